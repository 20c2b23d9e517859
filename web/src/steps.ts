// What a choice makes of the request, and what the page puts into it beside that. Plain functions of the view.
//
//     edited(view, [{ pointer: "/task", value: "grpo" }])   -> the request with it, what is assumed then
//     taken(view, used)                                      -> the request of a pasted text
import type { Request } from "./contract.ts";
import {
  BATCH,
  begins,
  besideMethod,
  besideModel,
  besideOther,
  besideTask,
  changed,
  NEUTRAL,
  PRECISION,
  saidEdits,
  type Edit,
} from "./own.ts";
import type { Used } from "./paste/used.ts";
import { get, put } from "./pointer.ts";
import { isExample } from "./scenarios.ts";
import type { View } from "./view.ts";

export interface Step {
  request: Request;
  /** What of it nobody has said, by pointer. */
  assumed: string[];
}

/** Of an example nothing else stays. */
export function edited(view: View, edits: Edit[]): Step {
  const { request, core } = view;
  const example = isExample(view);
  const begun = begins(request, example) ? [...NEUTRAL.map(({ pointer }) => pointer), ...PRECISION] : [];
  const before = [...(example ? [] : view.assumed), ...begun];
  const said = example ? {} : request;
  const beside = [
    ...besideModel(edits, said, view.assumed, core.models),
    ...besideMethod(edits, said, view.assumed),
    ...besideOther(edits, view.assumed, core.tasks),
    ...besideTask(edits, said, before.includes(BATCH), core.tasks),
  ];
  const all = [...edits, ...beside];
  const assumed = before.filter((pointer) => !all.some((edit) => edit.pointer === pointer));
  for (const { pointer, value } of beside) if (value !== undefined) assumed.push(pointer);
  return { request: changed(request, example, all, core.gpus, before), assumed };
}

/** What a text says; with a card that has what an error message says, since any of those has the same room. */
export function taken(view: View, { request, capacity, taken, model, open: more = [] }: Used): Step {
  if (model) return edited(view, [{ pointer: "/model", value: request["model"] }]);
  const unnamed = capacity !== undefined && get(request, "/hardware/gpu") === undefined;
  const gpu = unnamed ? view.rest?.card.likeliest(view, capacity) : undefined;
  const said = gpu ? put(request, "/hardware/gpu", gpu) : request;
  const assumed = gpu ? ["/hardware/gpu", ...more] : more;
  if (!taken) return { request: said, assumed };
  const edits = saidEdits(said, view.core.methods);
  const batch = taken.includes(BATCH) || get(said, BATCH) === undefined ? [BATCH] : [];
  const beside = besideTask(edits, said, batch.length > 0, view.core.tasks);
  const run = changed({}, true, [...edits, ...beside], view.core.gpus, []);
  const all = [...assumed, ...taken, ...batch, ...beside.map(({ pointer }) => pointer)];
  const filled = PRECISION.filter((pointer) => !edits.some((edit) => edit.pointer === pointer));
  return { request: run, assumed: [...all.filter((pointer) => get(run, pointer) !== undefined), ...filled] };
}
