// The core, loaded once. Everything the page knows comes through here.
//
//     const core = await loadCore();
//     if (!core.knows(request)) await core.learn(request);   // a model beyond those of the scenarios
//     const answer = core.report('{"model": "mistral-7b-v0.3"}');
//     if (answer.ok) show(answer.memory.peak); else show(answer.errors);
//
// The first module answers for most models; the second, once it is there, for all of them.
import createPlimsoll from "plimsoll-core/plimsoll.js";
import wasmUrl from "plimsoll-core/plimsoll.wasm?url";
import type {
  FieldInfo,
  GpuPreset,
  ModelPreset,
  Refusal,
  Report,
  Request,
  Scenario,
  Stack,
} from "./contract.ts";
import { loadMore } from "./more.ts";
import { addAll, firstPresets, once, otherPresets } from "./presets.ts";

export interface Core {
  version: string;
  /** Those that have been added so far. */
  models: ModelPreset[];
  gpus: GpuPreset[];
  scenarios: Scenario[];
  /** By pointer. */
  fields: Map<string, FieldInfo>;
  stacks: Stack[];
  /** Whether the answer to a request is final already: it is when all models are there, or its own is. */
  knows(request: Request): boolean;
  /** Fetches what the answer to a request needs. Fails when it cannot be fetched, and may then be asked again. */
  learn(request: Request): Promise<void>;
  /** Fetches all that there is. */
  complete(): Promise<void>;
  /** Takes the text of a request, so that the core also sees what JSON.parse would hide: duplicate keys. */
  report(request: string): Report | Refusal;
}

export async function loadCore(): Promise<Core> {
  const [plimsoll, presets] = await Promise.all([
    createPlimsoll({ locateFile: () => wasmUrl }),
    firstPresets(),
  ]);
  const problem = plimsoll.add_presets(presets);
  if (problem !== "") throw new Error(problem);
  const listed = () => (JSON.parse(plimsoll.models()) as { models: ModelPreset[] }).models;
  const { fields, stacks } = JSON.parse(plimsoll.fields()) as { fields: FieldInfo[]; stacks: Stack[] };
  let whole = false;
  const extend = once(async () => {
    await addAll(await otherPresets(), (lines) => plimsoll.add_presets(lines));
    if (!whole) core.models = listed();
  });
  const core: Core = {
    version: plimsoll.version(),
    models: listed(),
    gpus: (JSON.parse(plimsoll.gpus()) as { gpus: GpuPreset[] }).gpus,
    scenarios: (JSON.parse(plimsoll.scenarios()) as { scenarios: Scenario[] }).scenarios,
    fields: new Map(fields.map((field) => [field.pointer, field])),
    stacks,
    knows: ({ model }) => whole || core.models.some(({ id, hf_id }) => model === id || model === hf_id),
    async learn(request) {
      if (!core.knows(request)) await extend();
      if (!core.knows(request)) await core.complete();
    },
    async complete() {
      const more = await loadMore();
      if (whole) return;
      whole = true;
      core.models = more.models;
      core.report = more.answer;
    },
    report: (request) => JSON.parse(plimsoll.report(request)) as Report | Refusal,
  };
  return core;
}
