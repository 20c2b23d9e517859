// What the core can list of itself.
import type { Plimsoll } from "plimsoll-core/plimsoll.js";
import { isObject } from "./pointer.ts";
import type {
  FieldInfo,
  GpuPreset,
  Method,
  ModelPreset,
  Request,
  Scenario,
  Stack,
  Task,
  Usual,
} from "./contract.ts";

export interface Lists {
  version: string;
  /** Those that have been added so far. */
  models: ModelPreset[];
  gpus: GpuPreset[];
  scenarios: Scenario[];
  /** By pointer. */
  fields: Map<string, FieldInfo>;
  stacks: Stack[];
  methods: Method[];
  tasks: Task[];
}

export const modelsOf = (plimsoll: Plimsoll) =>
  (JSON.parse(plimsoll.models()) as { models: ModelPreset[] }).models;

export const usualIn = (text: string) => (JSON.parse(text) as { usual: Usual[] }).usual;

export type Fields = Pick<Lists, "fields" | "stacks" | "methods" | "tasks">;

export function fieldsOf(text: string): Fields {
  const { fields, ...rest } = JSON.parse(text) as Omit<Fields, "fields"> & { fields: FieldInfo[] };
  return { fields: new Map(fields.map((field) => [field.pointer, field])), ...rest };
}

/** Others may take their turn where it pauses: each list is many presets written out. */
export async function listsOf(plimsoll: Plimsoll, pause: () => Promise<void>): Promise<Lists> {
  const models = modelsOf(plimsoll);
  await pause();
  const { gpus } = JSON.parse(plimsoll.gpus()) as { gpus: GpuPreset[] };
  await pause();
  const { scenarios } = JSON.parse(plimsoll.scenarios()) as { scenarios: Scenario[] };
  await pause();
  const fields = fieldsOf(plimsoll.fields());
  await pause();
  return { version: plimsoll.version(), models, gpus, scenarios, ...fields };
}

/** Whether a request wants nothing that takes longer: plans, limits and the timeline are in the second module alone. */
export const isPlain = ({ want }: Request): boolean =>
  want === undefined || (Array.isArray(want) && want.length === 0);

/**
 * Whether the core accepts a request, asked at once: what a setting may be hardly ever hangs on the model, so one that is at
 * hand stands in for one that is not.
 */
export function accepts(
  core: Pick<Lists, "scenarios"> & {
    knows(request: Request): boolean;
    report(text: string): { ok: boolean };
  },
  request: Request,
): boolean {
  const near = core.scenarios.find((one) => core.knows(one.request))?.request["model"];
  const asked = core.knows(request) || near === undefined ? request : { ...request, model: near };
  return core.knows(asked) && core.report(JSON.stringify(asked)).ok;
}

/** Whether the first module answers it with these models; one whose config.json is pasted needs no preset. */
export const listed = (models: ModelPreset[], request: Request): boolean =>
  isPlain(request) &&
  (isObject(request["model"]) ||
    models.some(({ id, hf_id }) => request["model"] === id || request["model"] === hf_id));

/**
 * A request as the first module can be asked what is usual: of a model its kind is all that matters, so one of the same kind that
 * it lists stands in. Undefined where it lists none.
 */
export function standingIn(own: ModelPreset[], all: ModelPreset[], request: Request): Request | undefined {
  const { model } = request;
  if (typeof model !== "string" || listed(own, request)) return request;
  const named = all.find(({ id, hf_id, aliases = [] }) => [id, hf_id, ...aliases].includes(model));
  const near = named && own.find(({ kind }) => kind === named.kind);
  return near && { ...request, model: near.id };
}
