// What the core can list of itself.
import type { Plimsoll } from "plimsoll-core/plimsoll.js";
import type { FieldInfo, GpuPreset, ModelPreset, Scenario, Stack } from "./contract.ts";

export interface Lists {
  version: string;
  /** Those that have been added so far. */
  models: ModelPreset[];
  gpus: GpuPreset[];
  scenarios: Scenario[];
  /** By pointer. */
  fields: Map<string, FieldInfo>;
  stacks: Stack[];
}

export const modelsOf = (plimsoll: Plimsoll) =>
  (JSON.parse(plimsoll.models()) as { models: ModelPreset[] }).models;

export function listsOf(plimsoll: Plimsoll): Lists {
  const { fields, stacks } = JSON.parse(plimsoll.fields()) as { fields: FieldInfo[]; stacks: Stack[] };
  return {
    version: plimsoll.version(),
    models: modelsOf(plimsoll),
    gpus: (JSON.parse(plimsoll.gpus()) as { gpus: GpuPreset[] }).gpus,
    scenarios: (JSON.parse(plimsoll.scenarios()) as { scenarios: Scenario[] }).scenarios,
    fields: new Map(fields.map((field) => [field.pointer, field])),
    stacks,
  };
}
