// Types of build/wasm/plimsoll.js. Every function takes and gives JSON text except version().
//
//     import create_plimsoll from "plimsoll.js";
//     const plimsoll = await create_plimsoll();
//     const report = JSON.parse(plimsoll.report(JSON.stringify({ model: "mistral-7b-v0.3" })));

export interface Plimsoll {
  /**
   * A request to its report. With "want": ["timeline"] it holds /memory/timeline, the step over time for a plot:
   * {components: string[], points: [{instant, micro_batch, part, layer, bytes: number[]}], peak: number,
   * alive: [{component, what, bytes, count}]}, at most 400 points (core/report/timeline.h). Bad input gives a report with `ok: false` and `errors`; it never throws. */
  report(request: string): string;
  /** What presets/models/ holds. */
  models(): string;
  /** What presets/gpus/ holds. */
  gpus(): string;
  /** What presets/scenarios/ holds. */
  scenarios(): string;
  /** Every field of a request, with its type, what it may hold and what it means; and the stacks. */
  fields(): string;
  /**
   * What makes a request fit: plans for the chosen GPU and for every size, limits, what does not help. Some
   * milliseconds; the answer is an `Advice`.
   */
  advise(request: string): string;
  /** Two requests side by side: what each difference is worth. The answer is a `Comparison`. */
  compare(a: string, b: string): string;
  /** Version of the core, as in the report's `core`. */
  version(): string;
}

export type Verdict = "fits" | "tight" | "no";
/** Bytes. */
export interface Peak {
  allocated: number;
  reserved: number;
  device: number;
  low: number;
  high: number;
  needed: number;
}
/** What it costs in what is learned: nothing; nothing that was ever measured; a little; visibly. */
export type Quality = "none" | "parity" | "small" | "visible";

/** One field that a plan sets. A fix that sets several has its saving in the first. */
export interface Change {
  fix: string;
  title: string;
  /** Where in the request: "/training/optim". */
  pointer: string;
  from: unknown;
  to: unknown;
  /** Bytes off the device peak, after the changes before it: savings add up. */
  saves: number;
  why: string;
  quality: Quality;
  evidence: string;
  effort: string;
  /** What to write, in the words of the request's stack. */
  setting: string;
  source: string;
}
export interface AdvicePlan {
  /** The first of `readings`. */
  name: "same" | "fewest" | "fastest";
  readings: ("same" | "fewest" | "fastest")[];
  verdict: Verdict;
  changes: Change[];
  peak: Peak;
  /** Time of a step against that of the request as it is; below 1 is faster. */
  time_factor: number;
  quality: Quality;
  quality_cost: number;
  effective_batch: number;
}
/** Why nothing fits. */
export interface Blocked {
  /** Bytes: the least this model can be trained in, by `changes`. */
  least: number;
  changes: Change[];
  /** GiB, or null when no size is enough. */
  smallest_tier: number | null;
  /** Locks without which it would fit. */
  locks_in_the_way: string[];
  /** Id of the largest smaller model of the same family that fits with the recipe as it is. */
  sibling: string | null;
  /** The largest part of what is left. */
  component: string;
  component_bytes: number;
}
export interface Target {
  usable: number;
  verdict: Verdict;
  headroom: number;
  plans: AdvicePlan[];
  blocked: Blocked | null;
}
/** A further step when a plan still fails (`saves`), or something to buy with room to spare (`costs`). */
export interface Rung {
  fix: string;
  title: string;
  /** Pointer to new value. */
  changes: Record<string, unknown>;
  saves?: number;
  costs?: number;
  setting?: string;
  why?: string;
  peak: Peak;
  time_factor: number;
  quality?: Quality;
}
export interface Limits {
  per_device_train_batch_size: number | null;
  max_length: number | null;
  r: number | null;
  image_size: number | null;
  /** The preset with the most parameters that fits with the same recipe. */
  model: { id: string; parameters: number; high: number } | null;
  costs: {
    one_more_sample: number;
    "256_more_tokens": number;
    twice_the_rank: number | null;
    one_more_image: number | null;
  };
  /** verdicts[i][j] is that of the i-th batch size and the j-th length. */
  map: { per_device_train_batch_size: number[]; max_length: number[]; verdicts: Verdict[][] };
}
export interface Advice {
  schema: 1;
  core: string;
  ok: boolean;
  errors: { code: string; pointer: string; message: string; allowed: string }[];
  peak: Peak;
  /** Largest size first. */
  tiers: (Target & { gib: number; gpus: string[] })[];
  gpu: (Target & { id: string; name: string; ladder: Rung[]; spend: Rung[] }) | null;
  /** Every fix that applies, alone. */
  fixes: {
    fix: string;
    title: string;
    changes: Record<string, unknown>;
    saves: number;
    time_factor: number;
    quality: Quality;
    why: string;
    evidence: string;
    effort: string;
    setting: string;
    source: string;
  }[];
  /** Choices that no other one beats in memory, time and quality, least memory first. */
  front: { high: number; time_factor: number; quality_cost: number; fixes: string[] }[];
  limits: Limits | null;
  habits: { code: string; message: string; bytes: number; source: string }[];
  search: { replays: number; priced: number };
}
export interface Comparison {
  schema: 1;
  core: string;
  ok: boolean;
  errors: { code: string; pointer: string; message: string; allowed: string }[];
  a: ComparedRun;
  b: ComparedRun;
  /** Shares that add up to the whole difference, largest first. */
  differences: {
    field: string;
    a: unknown;
    b: unknown;
    device: number;
    allocated: number;
    seconds_per_step: number;
  }[];
  no_effect: { field: string; a: unknown; b: unknown }[];
}
export interface ComparedRun {
  model: string;
  instant: string;
  allocated: number;
  device: number;
  high: number;
  seconds_per_step: number;
  gpu?: string;
  verdict?: Verdict;
  effective_batch: number;
  trainable: number;
}

export interface Options {
  /** The bytes of plimsoll.wasm, when they are already at hand. */
  wasmBinary?: ArrayBuffer | Uint8Array;
  /** Where a file of the module lies, given its name and the folder of plimsoll.js. */
  locateFile?(name: string, folder: string): string;
}

export default function create_plimsoll(options?: Options): Promise<Plimsoll>;
