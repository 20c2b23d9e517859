// What becomes of a request when a person changes it: an example is left behind, a choice makes what it does not go with give way.
// Plain functions over plain data; tests/web/choices.spec.ts sends every model through them.
import type { CoreError, GpuPreset, Json, Method, ModelPreset, Report, Request, Task } from "./contract.ts";
import { get, isObject, put } from "./pointer.ts";

export interface Edit {
  pointer: string;
  value: Json | undefined;
}

const applied = (request: Request, edits: Edit[]): Request =>
  edits.reduce((under, { pointer, value }) => put(under, pointer, value), request);

// Methods

/** Loaded as its checkpoint stores it, in few bits: GPTQ, AWQ and their like. */
export const isPacked = (request: Request): boolean =>
  typeof get(request, "/quantization/quant_method") === "string";

/** Whether a request says this method; none while nothing is known of the run. */
export const isMethod = (method: Method, request: Request): boolean =>
  (method.id !== "full" || get(request, "/model") !== undefined || request["peft"] === null) &&
  method.adapters === isObject(get(request, "/peft")) &&
  !isPacked(request) &&
  ["load_in_4bit", "load_in_8bit"].every(
    (bits) => (get(request, `/quantization/${bits}`) === true) === bits in method.quantization,
  );

/** The method that a request says. */
export const methodOf = (methods: Method[], request: Request): Method | undefined =>
  methods.find((method) => isMethod(method, request));

/** "all-linear", because a list of names is another one for each family of models; the rank is the library's, as on the command line. */
export const ADAPTERS: Json = { target_modules: "all-linear" };

/** What was there of the same weights stays. */
export function methodEdits(method: Method, peft: Json | undefined, quantization: Json | undefined): Edit[] {
  const bits = Object.keys(method.quantization);
  const own =
    isObject(quantization) && bits.some((name) => name.startsWith("load_in_") && quantization[name] === true);
  return [
    { pointer: "/peft", value: method.adapters ? (isObject(peft) ? peft : ADAPTERS) : null },
    {
      pointer: "/quantization",
      value: bits.length === 0 ? null : own ? quantization : method.quantization,
    },
  ];
}

/** The ways to train on weights that are stored in few bits: adapters on them as they are, or all of them in 16 bits. */
export const packedWays = (): { id: "packed" | "full"; edits: Edit[] }[] => [
  { id: "packed", edits: [{ pointer: "/peft", value: ADAPTERS }] },
  {
    id: "full",
    edits: [
      { pointer: "/peft", value: null },
      { pointer: "/quantization", value: null },
    ],
  },
];

/** Weights in few bits take adapters, which nobody has named: some are taken, and which method it is is asked. */
export function withAdapters(request: Request, errors: CoreError[]): Request | undefined {
  const bare = errors.some(({ code, pointer }) => code === "conflict" && pointer === "/quantization");
  const open = isObject(get(request, "/quantization")) && get(request, "/peft") === undefined;
  return bare && open ? put(request, "/peft", ADAPTERS) : undefined;
}

export const CHECKPOINTING = "/training/gradient_checkpointing";

/**
 * What comes with a method until somebody says otherwise: prepare_model_for_kbit_training turns checkpointing on
 * (huggingface/peft src/peft/utils/other.py). `assumed`: what of the request nobody has said.
 */
export function besideMethod(edits: Edit[], request: Request, assumed: string[]): Edit[] {
  const bits = edits.find(({ pointer }) => pointer === "/quantization");
  const open = get(request, CHECKPOINTING) === undefined || assumed.includes(CHECKPOINTING);
  return bits && open ? [{ pointer: CHECKPOINTING, value: isObject(bits.value) ? true : undefined }] : [];
}

export const ACCUMULATION = "/training/gradient_accumulation_steps";
const TASK = "/task";
/** That of a request which says this of its task; undefined where the core knows none of that name. */
export const taskIn = (tasks: Task[], value: Json | undefined): Task | undefined =>
  tasks.find(({ id }) => id === (value ?? "sft"));
const isGrouped = (task: Task | undefined): task is Task => (task?.num_generations ?? 1) > 1;

/** What comes with a task: its library, and with the smallest micro-batch TRL stops, unless its steps hold a whole group together. */
export function besideTask(edits: Edit[], request: Request, smallest: boolean, tasks: Task[]): Edit[] {
  const edit = edits.find(({ pointer }) => pointer === TASK);
  const task = edit && taskIn(tasks, edit.value);
  const trl = task?.has_rl === true && get(request, "/stack") === undefined;
  const beside: Edit[] = trl ? [{ pointer: "/stack", value: "trl" }] : [];
  if (!isGrouped(task) || !smallest || get(request, ACCUMULATION) !== undefined) return beside;
  const group = get(request, "/rl/num_generations") ?? task.num_generations;
  return [...beside, { pointer: ACCUMULATION, value: group }];
}

/** What an encoder is trained for most, as the command line takes it (core/run/usual.h); what came with one goes with it. */
export function besideModel(
  edits: Edit[],
  request: Request,
  assumed: string[],
  models: ModelPreset[],
): Edit[] {
  const chosen = edits.find(({ pointer }) => pointer === "/model")?.value;
  const task = get(request, TASK);
  const open = task === undefined || assumed.includes(TASK);
  if (typeof chosen !== "string" || !open || edits.some(({ pointer }) => pointer === TASK)) return [];
  const found = models.find(({ id, hf_id, aliases = [] }) => [id, hf_id, ...aliases].includes(chosen));
  if (found?.kind === "encoder") return [{ pointer: TASK, value: "classification" }];
  return task === undefined ? [] : [{ pointer: TASK, value: undefined }];
}

/** What came with another task and was nobody's choice goes with it. */
export function besideOther(edits: Edit[], assumed: string[], tasks: Task[]): Edit[] {
  const edit = edits.find(({ pointer }) => pointer === TASK);
  if (!edit) return [];
  const task = taskIn(tasks, edit.value);
  const gone = [...(task?.has_rl ? [] : ["/stack"]), ...(isGrouped(task) ? [] : [ACCUMULATION])];
  return gone
    .filter((pointer) => assumed.includes(pointer))
    .map((pointer) => ({ pointer, value: undefined }));
}

/** What somebody says in words, with what the method of that name is here beside it. */
export function saidEdits(request: Request, methods: Method[]): Edit[] {
  const method = saysMethod(request, []) ? methodOf(methods, request) : undefined;
  const whole = (method ? methodEdits(method, undefined, get(request, "/quantization")) : []).map(
    ({ pointer, value }) => {
      const own = get(request, pointer);
      return { pointer, value: isObject(value) && isObject(own) ? { ...value, ...own } : value };
    },
  );
  const parts = Object.entries(request).flatMap(([key, value]) =>
    isObject(value)
      ? Object.entries(value).map(([name, each]) => ({ pointer: `/${key}/${name}`, value: each }))
      : [{ pointer: `/${key}`, value }],
  );
  return [...parts, ...whole, ...besideMethod(whole, request, [])];
}

// Precision: what everybody sets who is not asked, and what depends on the card

export const PRECISION = ["/training/bf16", "/training/fp16", "/model_args/dtype"];

function precisionFor(request: Request, gpus: GpuPreset[]): Edit[] {
  const gpu = gpus.find(({ id }) => id === get(request, "/hardware/gpu"));
  if (gpu?.bf16 !== false) return [{ pointer: "/training/bf16", value: true }];
  return [
    { pointer: "/training/fp16", value: true },
    // The scaler of fp16 training needs trained weights in fp32.
    { pointer: "/model_args/dtype", value: isObject(get(request, "/peft")) ? "float16" : "float32" },
  ];
}

/** The precision that the card has. */
export const precisionEdits = (request: Request, gpus: GpuPreset[]): Edit[] => [
  ...PRECISION.map((pointer) => ({ pointer, value: undefined })),
  ...precisionFor(request, gpus),
];

/** Where a run begins here and not in a file: the Trainer's 8 would answer for nobody, and say what no card has. */
export const BATCH = "/training/per_device_train_batch_size";
export const LENGTH = "/training/max_length";
export const NEUTRAL: Edit[] = [{ pointer: BATCH, value: 1 }];

/** Whether nothing of a request is the person's own yet; the card may be that of an error message. */
export const begins = (request: Request, example: boolean) =>
  example || Object.keys(request).every((key) => key === "hardware");

/**
 * What a person says of an example is all that is kept of it; the rest is the core's own defaults, but for the neutral ones. The precision that was
 * filled in follows the card; one that somebody has said stays on a card that does not have it, and is warned of.
 */
export function changed(
  request: Request,
  example: boolean,
  edits: Edit[],
  gpus: GpuPreset[],
  assumed: string[],
): Request {
  const fresh = begins(request, example);
  const before = example ? {} : request;
  const after = applied(before, fresh ? [...NEUTRAL, ...edits] : edits);
  const untouched = !edits.some(({ pointer }) => PRECISION.includes(pointer));
  const filled = fresh || PRECISION.every((pointer) => assumed.includes(pointer));
  return untouched && filled ? applied(after, precisionEdits(after, gpus)) : after;
}

const within = (pointer: string, outer: string) => pointer === outer || pointer.startsWith(`${outer}/`);

/** Every value that the recipe of a request states, by pointer; the model and the machine are no recipe. */
function stated(tree: Request, at = ""): string[] {
  return Object.entries(tree).flatMap(([key, value]) => {
    const pointer = `${at}/${key}`;
    if (pointer === "/model" || pointer === "/hardware") return [];
    return isObject(value) ? [pointer, ...stated(value, pointer)] : [pointer];
  });
}

/**
 * A choice that the core refuses because of something else: without that. Undefined where nothing can give way. Names of
 * modules are those of another family: all of them then. Where the core only names what was chosen, `accepts` finds the
 * one thing that stands against it.
 */
export function givenWay(
  request: Request,
  chosen: string[],
  errors: CoreError[],
  accepts: (request: Request) => boolean,
): { request: Request; dropped: string[] } | undefined {
  // Nothing stands against a model that nobody has named, or that nobody knows.
  const nameless = errors.some(({ code }) => code === "missing" || code === "unknown_model");
  if (chosen.length === 0 || errors.length === 0 || nameless) return undefined;
  const dropped: string[] = [];
  let after = request;
  for (const { pointer } of errors) {
    const targets = within(pointer, "/peft/target_modules");
    const place = targets ? "/peft/target_modules" : pointer;
    const value = targets && isObject(get(after, "/peft")) ? "all-linear" : undefined;
    if (place === "" || chosen.includes(place) || get(after, place) === value) continue;
    after = put(after, place, value);
    dropped.push(place);
  }
  if (dropped.length > 0) return { request: after, dropped };
  const free = stated(request).filter((pointer) => !chosen.some((own) => within(own, pointer)));
  const one = free.find((pointer) => accepts(put(request, pointer, undefined)));
  return one === undefined ? undefined : { request: put(request, one, undefined), dropped: [one] };
}

// Essentials

/** Whether somebody has said what is trained; without, all weights are taken. */
export const saysMethod = (request: Request, assumed: string[]): boolean =>
  (get(request, "/peft") !== undefined || get(request, "/quantization") !== undefined) &&
  !assumed.includes("/peft");

const SHARED = ["ddp", "fsdp", "fsdp2", "zero0", "zero1", "zero2", "zero3"];

/** A script may say these by an expression that only its own run knows. */
export const LEFT_OPEN = [LENGTH, BATCH];

/** What nobody has said and no default may stand in for, by pointer. `open`: what a text leaves to be answered. */
export function unsaid(request: Request, report: Report | undefined, open: string[]): string[] {
  const missing: string[] = [];
  if (get(request, "/model") === undefined) missing.push("/model");
  if (get(request, "/hardware/gpu") === undefined) missing.push("/hardware/gpu");
  const strategy = get(request, "/parallel/strategy");
  const several = typeof strategy === "string" && SHARED.includes(strategy);
  if (several && get(request, "/parallel/num_gpus") === undefined) missing.push("/parallel/num_gpus");
  // What follows from a model is asked once there is one.
  if (!report) return missing;
  for (const { asked, pointer } of report.assumptions) if (asked) missing.push(pointer);
  const left = open.filter((pointer) => LEFT_OPEN.includes(pointer) && get(request, pointer) === undefined);
  return [...new Set([...missing, ...left])];
}

/** "GiB at an assumed length" is no verdict on a card. */
export const asFarAsSaid = (request: Request, report: Report, open: string[]): Report =>
  unsaid(request, report, open).length > 0 ? { ...report, gpu: null } : report;
