// What becomes of a request when a person changes it: an example is left behind, a choice makes what it does not go with give way.
// Plain functions over plain data; tests/web/choices.spec.ts sends every model through them.
import type { CoreError, Json, Method, Report, Request, Task, Usual } from "./contract.ts";
import { get, isObject, put } from "./pointer.ts";

export interface Edit {
  pointer: string;
  value: Json | undefined;
}

export interface Step {
  request: Request;
  /** What of it nobody has said, by pointer. */
  assumed: string[];
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

// What nobody trains without, where the person has said only what runs on which card: the core's rows (core/run/usual.h)

export const CHECKPOINTING = "/training/gradient_checkpointing";
export const ACCUMULATION = "/training/gradient_accumulation_steps";
export const AUTOCAST = ["/training/bf16", "/training/fp16"];
export const PRECISION = [...AUTOCAST, "/model_args/dtype"];
const TASK = "/task";
const STACK = "/stack";

/** That of a request which says this of its task; undefined where the core knows none of that name. */
export const taskIn = (tasks: Task[], value: Json | undefined): Task | undefined =>
  tasks.find(({ id }) => id === (value ?? "sft"));

/** What is filled in anew where one of these is chosen, until somebody says it. */
const FOLLOWS: Record<string, string[]> = {
  [TASK]: ["/model"],
  [STACK]: [TASK],
  [ACCUMULATION]: [TASK],
  [CHECKPOINTING]: ["/quantization"],
  ...Object.fromEntries(PRECISION.map((pointer) => [pointer, ["/hardware/gpu", "/peft"]])),
};

/** What a person has said of a run, and what may be filled in beside it. */
export interface Said {
  request: Request;
  /** All that is usual; else these alone, by pointer. */
  filled: string[] | "all";
  /** What nobody has said, by pointer. */
  assumed: string[];
}

/**
 * What the core is asked: without what is filled in, and without the library, which in the form is chosen after the run and does not
 * take back what was filled in.
 */
export const openOf = ({ request, assumed }: Said): Request =>
  [STACK, ...assumed.filter((pointer) => pointer === BATCH || pointer in FOLLOWS)].reduce(
    (under, pointer) => put(under, pointer, undefined),
    request,
  );

/** The request with what is usual where nobody has said it, and what nobody has said then. */
export function withUsual({ request, filled, assumed }: Said, usual: Usual[]): Step {
  const rows = usual.filter(
    ({ pointer }) => (filled === "all" || filled.includes(pointer)) && get(request, pointer) === undefined,
  );
  const whole = applied(request, rows);
  const open = [...assumed, ...rows.map(({ pointer }) => pointer)];
  return {
    request: whole,
    assumed: [...new Set(open)].filter(
      // A length that a script takes from elsewhere stays to be asked for.
      (pointer) => PRECISION.includes(pointer) || !(pointer in FOLLOWS) || get(whole, pointer) !== undefined,
    ),
  };
}

export const COUNT = "/parallel/num_gpus";
export const BATCH = "/training/per_device_train_batch_size";
export const LENGTH = "/training/max_length";

/** Whether nothing of a request is the person's own yet; the card may be that of an error message. */
export const begins = (request: Request, example: boolean) =>
  example || Object.keys(request).every((key) => key === "hardware");

/**
 * What a person has said with these choices: of an example they are all that is kept. `open`: what is left to what is usual.
 * A precision that somebody has said stays on a card that does not have it, and is warned of.
 */
export function chosen(
  { request, example, assumed }: { request: Request; example: boolean; assumed: string[] },
  edits: Edit[],
  open: string[] = [],
): Said {
  const fresh = begins(request, example);
  const before = [...(example ? [] : assumed), ...(fresh ? [BATCH, ...PRECISION] : []), ...open];
  const left = before.filter((pointer) => !edits.some((edit) => edit.pointer === pointer));
  const start = example ? {} : request;
  const moved = Object.keys(FOLLOWS).filter(
    (pointer) =>
      open.includes(pointer) ||
      (edits.some((edit) => FOLLOWS[pointer]?.includes(edit.pointer)) &&
        (left.includes(pointer) || (get(start, pointer) === undefined && !PRECISION.includes(pointer)))),
  );
  const kept = moved
    .filter((pointer) => left.includes(pointer))
    .reduce((under, pointer) => put(under, pointer, undefined), start);
  return { request: applied(kept, edits), filled: fresh ? "all" : moved, assumed: left };
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
  if (several && get(request, COUNT) === undefined) missing.push(COUNT);
  // What follows from a model is asked once there is one.
  if (!report) return missing;
  for (const { asked, pointer } of report.assumptions) if (asked) missing.push(pointer);
  const left = open.filter((pointer) => LEFT_OPEN.includes(pointer) && get(request, pointer) === undefined);
  return [...new Set([...missing, ...left])];
}

/** "GiB at an assumed length" is no verdict on a card. */
export const asFarAsSaid = (request: Request, report: Report, open: string[]): Report =>
  unsaid(request, report, open).length > 0 ? { ...report, gpu: null } : report;
