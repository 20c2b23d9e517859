// What the core can list of itself.
import type { Plimsoll } from "plimsoll-core/plimsoll.js";
import { isObject } from "./pointer.ts";
import type { FieldInfo, GpuPreset, ModelPreset, Request, Scenario, Stack } from "./contract.ts";

export interface Lists {
  version: string;
  /** Those that have been added so far. */
  models: ModelPreset[];
  gpus: GpuPreset[];
  scenarios: Scenario[];
  /** By pointer; what they mean is known once everything has been fetched. */
  fields: Map<string, FieldInfo>;
  stacks: Stack[];
}

export const modelsOf = (plimsoll: Plimsoll) =>
  (JSON.parse(plimsoll.models()) as { models: ModelPreset[] }).models;

export interface Fields {
  fields: Map<string, FieldInfo>;
  stacks: Stack[];
}

export function fieldsOf(text: string): Fields {
  const { fields, stacks } = JSON.parse(text) as { fields: FieldInfo[]; stacks: Stack[] };
  return { fields: new Map(fields.map((field) => [field.pointer, field])), stacks };
}

/** Others may take their turn where it pauses: each list is many presets written out. */
export async function listsOf(plimsoll: Plimsoll, pause: () => Promise<void>): Promise<Lists> {
  const models = modelsOf(plimsoll);
  await pause();
  const { gpus } = JSON.parse(plimsoll.gpus()) as { gpus: GpuPreset[] };
  await pause();
  const { scenarios } = JSON.parse(plimsoll.scenarios()) as { scenarios: Scenario[] };
  await pause();
  const { fields, stacks } = fieldsOf(plimsoll.fields());
  await pause();
  return { version: plimsoll.version(), models, gpus, scenarios, fields, stacks };
}

/** What the first module knows of PEFT: LoRA, and what has its layers. */
const LORA: unknown[] = [undefined, "LORA", "ADALORA"];

/** Whether a request names its model and wants nothing that takes longer, so that the first module may answer it. */
export const isPlain = ({ model, want, peft }: Request): boolean =>
  typeof model === "string" &&
  (want === undefined || (Array.isArray(want) && want.length === 0)) &&
  LORA.includes(isObject(peft) ? peft["peft_type"] : undefined);

/** Whether the first module answers it with these models. */
export const listed = (models: ModelPreset[], request: Request): boolean =>
  isPlain(request) && models.some(({ id, hf_id }) => request["model"] === id || request["model"] === hf_id);
