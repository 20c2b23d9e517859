// What a choice makes of the request, and what is filled in beside it.
//
//     edited(view, [{ pointer: "/task", value: "grpo" }])   -> the request with it, what is assumed then
//     taken(view, used)                                      -> the request of a pasted text
//
// The core says what is usual: at once, or where a thread or the second module has to be asked, once it has answered.
import type { Request, Usual } from "./contract.ts";
import { chosen, openOf, PRECISION, withUsual, type Edit, type Said, type Step } from "./own.ts";
import type { Used } from "./paste/used.ts";
import { get, put } from "./pointer.ts";
import { isExample } from "./scenarios.ts";
import type { View } from "./view.ts";

function completed({ core }: View, said: Said): Step | Promise<Step> {
  if (said.filled.length === 0) return withUsual(said, []);
  const usual = core.usual(openOf(said));
  if (!(usual instanceof Promise)) return withUsual(said, usual);
  // What cannot be fetched is said where the answer needs it.
  return usual.catch((): Usual[] => []).then((rows) => withUsual(said, rows));
}

/** `open`: what is left to what is usual. */
export const edited = (view: View, edits: Edit[], open: string[] = []): Step | Promise<Step> =>
  completed(view, chosen({ ...view, example: isExample(view) }, edits, open));

/** What a text says; with a card that has what an error message says, since any of those has the same room. */
export function taken(
  view: View,
  { request, capacity, taken, model, open: more = [] }: Used,
): Step | Promise<Step> {
  if (model) return edited(view, [{ pointer: "/model", value: request["model"] }]);
  const unnamed = capacity !== undefined && get(request, "/hardware/gpu") === undefined;
  const gpu = unnamed ? view.rest?.card.likeliest(view, capacity) : undefined;
  const said: Request = gpu ? put(request, "/hardware/gpu", gpu) : request;
  const assumed = gpu ? ["/hardware/gpu", ...more] : more;
  if (!taken) return { request: said, assumed };
  const open = PRECISION.filter((pointer) => get(said, pointer) === undefined);
  return completed(view, { request: said, filled: "all", assumed: [...assumed, ...taken, ...open] });
}
