// The core, loaded once. Everything the page knows comes through here.
//
//     const core = await loadCore();
//     const answer = core.report('{"model": "mistral-7b-v0.3"}');
//     if (answer.ok) show(answer.memory.peak); else show(answer.errors);
import createPlimsoll from "plimsoll-core/plimsoll.js";
import wasmUrl from "plimsoll-core/plimsoll.wasm?url";
import type { FieldInfo, GpuPreset, ModelPreset, Refusal, Report, Scenario, Stack } from "./contract.ts";

export interface Core {
  version: string;
  models: ModelPreset[];
  gpus: GpuPreset[];
  scenarios: Scenario[];
  /** By pointer. */
  fields: Map<string, FieldInfo>;
  stacks: Stack[];
  /** Takes the text of a request, so that the core also sees what JSON.parse would hide: duplicate keys. */
  report(request: string): Report | Refusal;
}

export async function loadCore(): Promise<Core> {
  const plimsoll = await createPlimsoll({ locateFile: () => wasmUrl });
  const { fields, stacks } = JSON.parse(plimsoll.fields()) as { fields: FieldInfo[]; stacks: Stack[] };
  return {
    version: plimsoll.version(),
    models: (JSON.parse(plimsoll.models()) as { models: ModelPreset[] }).models,
    gpus: (JSON.parse(plimsoll.gpus()) as { gpus: GpuPreset[] }).gpus,
    scenarios: (JSON.parse(plimsoll.scenarios()) as { scenarios: Scenario[] }).scenarios,
    fields: new Map(fields.map((field) => [field.pointer, field])),
    stacks,
    report: (request) => JSON.parse(plimsoll.report(request)) as Report | Refusal,
  };
}
