// Written by docs/contract.mjs from core/report/contract.schema.json: change it there.
//
//     const request: Request = { model: "mistral-7b-v0.3", peft: { r: 16 }, hardware: { gpu: "a10g" } };
//
// The request and the report of the core, as data. Sizes are bytes, exact up to 2^53. The core alone decides what is
// valid; the page carries any JSON, so a request here is only as typed as the fields that the page itself reads or writes.

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type JsonObject = { [key: string]: Json };

/** Any request: the field names are those of Transformers, PEFT, TRL and bitsandbytes. */
export type Request = JsonObject;

export type Verdict = "fits" | "tight" | "no";

export interface CoreError {
  code: string;
  /** RFC 6901: "/training/max_length". */
  pointer: string;
  message: string;
  allowed?: string;
}

export interface Note {
  code: string;
  message: string;
  source?: string;
  /** The verdict is pointless without it: it stands beside the verdict. Absent where it is not so. */
  decisive?: boolean;
}

export interface Assumption {
  pointer: string;
  value: Json;
  why: string;
  /** No library sets it: the person is asked for it. */
  asked?: boolean;
}

export interface Component {
  id: string;
  bytes: number;
  what: string;
  formula: string;
  source: string;
}

export interface Instant {
  id: string;
  what: string;
  allocated: number;
  reserved: number;
  device: number;
  /** Memory of the computer that is needed then, of those that save, read back or merge. */
  host_bytes?: number;
  components: Component[];
}

export interface Evidence {
  id: string;
  source: string;
  /** 0: same stack, method, size and age of the library. */
  distance: number;
  /** Predicted / measured - 1, of the readings that the source gives. */
  allocated_error?: number;
  reserved_error?: number;
  device_error?: number;
}

export interface Sizes {
  allocated: number;
  reserved: number;
  device: number;
  low: number;
  high: number;
  /** What the run cannot do without: the device figure once PyTorch has given back what it holds unused. */
  needed: number;
  /** The high end of `needed`: it fits a card with as much, whatever PyTorch would cache beyond that. */
  enough?: number;
}

export interface Peak {
  allocated: number;
  reserved: number;
  device: number;
  low: number;
  high: number;
  /** What the run cannot do without: the device figure once PyTorch has given back what it holds unused. */
  needed: number;
  /** The high end of `needed`: it fits a card with as much, whatever PyTorch would cache beyond that. */
  enough?: number;
  instant: string;
  /** The highest instant until the first optimizer step is over: optimizer states do not exist before it. */
  first_step: {
    instant: string;
    allocated: number;
  };
  /** Where the allocated peaks of runs like this one lay: the band of `allocated`. */
  allocated_low?: number;
  allocated_high?: number;
  /** The measured runs nearest to this one. */
  evidence?: Evidence[];
}

export interface Tier {
  gib: number;
  /** Ids, as in gpus(). */
  gpus: string[];
  usable: number;
  verdict: Verdict;
  /** Usable minus the device peak; negative when it does not fit. */
  headroom: number;
  /** Only with "want": ["plans"]. */
  plans?: Plan[];
}

export interface ChosenGpu {
  id: string;
  name: string;
  usable: number;
  usable_source: string;
  verdict: Verdict;
  headroom: number;
  /** Only with "want": ["plans"]. */
  plans?: Plan[];
}

/** Only with "want": ["allocator"]: PyTorch's caching allocator, simulated, from which peak, instants and tiers are. */
export interface Allocator {
  /** What max_memory_allocated() prints: blocks, which may be larger than the tensors in them. */
  allocated_blocks: number;
  /** max_memory_reserved() with room to spare. */
  reserved: number;
  /** What it cannot do without when cached blocks are given back. */
  needed: number;
  loaded_blocks: number;
  loaded_reserved: number;
  /** The chosen card has less than `reserved`. */
  pressed: boolean;
  /** Then: how often cached blocks are given back, and whether it dies all the same. */
  retries: number;
  dies_on_card: boolean;
}

export interface TimelinePoint {
  /** As in Instant.id. */
  instant: string;
  /** 1 makes the gradients, 2 stands for all later ones; 0 outside forward and backward. */
  micro_batch: number;
  /** What is at work: "text", "vision", "head", "optimizer", ... */
  part: string;
  layer: number | null;
  /** One for each of Timeline.components. */
  bytes: number[];
}

/** Only when the request has "want": ["timeline"]; core/report/timeline.h says more. */
export interface Timeline {
  /** Bottom of the stack first. */
  components: string[];
  points: TimelinePoint[];
  /** Index of the highest point. */
  peak: number;
  /** At the peak. */
  alive: {
    component: string;
    what: string;
    bytes: number;
    count: number;
  }[];
  /** At every point: `counts` is pairs of a point and how many are alive from there on. */
  tensors: {
    component: string;
    what: string;
    bytes: number;
    counts: number[];
  }[];
}

export type Range = [low: number, high: number];

export interface Machine {
  provider: string;
  provider_name: string;
  instance: string;
  region: string;
  gpu: string;
  gpus: number;
  /** As many of them as share the samples of a step. */
  gpus_used: number;
  /** Of a notebook service: after so many hours it ends the session. */
  session_hours?: number;
  verdict: Verdict;
  seconds_per_step?: number;
  hours?: number;
  relative_speed?: number;
  on_demand?: {
    usd_per_hour: Range;
    usd?: Range;
  };
  spot?: {
    usd_per_hour: Range;
    expected_usd?: Range;
    expected_hours?: number;
    expected_interruptions?: number;
    chance_of_none?: number;
  };
  note?: string;
  /** "low" where the price is not the seller's own. */
  confidence?: string;
  date: string;
  source: string;
}

export interface Time {
  gpu?: string;
  seconds_per_step?: number;
  /** Seconds of one step; they add up to seconds_per_step. */
  parts?: {
    multiply: number;
    attention: number;
    unpack: number;
    move: number;
    launch: number;
    /** Completions of GRPO, RLOO and PPO, each as long as it may be; only where some are written. */
    generate?: number;
    optimizer: number;
  };
  /** The GPU waits for the CPU more than it works. */
  launch_bound?: boolean;
  flops_per_step?: number;
  tokens_per_step?: number;
  tokens_per_second?: number;
  steps?: number;
  checkpoints?: number;
  /** No more than save_total_limit. */
  checkpoints_kept?: number;
  low?: number;
  high?: number;
  hours?: number;
  hours_range?: Range;
  cost?: number;
  disk_bytes?: number;
  machines?: Machine[];
}

export interface Report {
  schema: number;
  core: string;
  ok: true;
  errors: CoreError[];
  notes: Note[];
  assumptions: Assumption[];
  model: {
    /** Of the preset, or the name of a configuration that the request brings along. */
    id: string;
    name: string;
    parameters: number;
    trainable: number;
    /** As PEFT prints it: base and adapters. */
    all_parameters: number;
    trainable_percent: number;
    adapter_file_bytes: number;
    checkpoint_bytes: number;
  };
  memory: {
    peak: Peak;
    /** Of one training process; each GPU holds what `peak` says. */
    gpus: number;
    effective_batch: number;
    /** Bytes of the layers on each GPU when device_map spreads them. */
    spread?: number[];
    /** What one more of each costs at the peak. */
    per_unit: {
      sample: number;
      token: number;
      rank: number;
      image: number;
    };
    instants: Instant[];
    host_bytes?: number;
    timeline?: Timeline;
    allocator?: Allocator;
  };
  /** Absent while the request names no GPU. */
  gpu?: ChosenGpu | null;
  tiers: Tier[];
  time?: Time | null;
  /** Only with "want": ["limits"]. */
  limits?: Limits | null;
}

export interface Refusal {
  schema: number;
  core?: string;
  ok: false;
  errors: CoreError[];
}

export interface ModelPreset {
  id: string;
  hf_id: string;
  family: string;
  parameters: number;
  kind: string;
  /** Hugging Face ids of models with the same shapes. */
  aliases?: string[];
}

export interface GpuPreset {
  id: string;
  name: string;
  vendor: string;
  tier_gib: number;
  /** What PyTorch reports as the capacity: the lowest reading, and the highest. */
  usable_bytes: number;
  usable_high_bytes: number;
  /** Whether it has bfloat16 units. */
  bf16: boolean;
}

/** One field of a request, as the core declares it. */
export interface FieldInfo {
  pointer: string;
  type: string;
  /** In words; for a choice the possible words, separated by ", ". */
  allowed: string;
  /** What it means, in a sentence; "" from the first module, which leaves it to the second. */
  what: string;
}

export interface Stack {
  id: string;
  name: string;
  summary: string;
}

/** What one word of a person's means. */
export interface Method {
  id: "full" | "lora" | "qlora" | "lora8";
  /** Else all weights are trained. */
  adapters: boolean;
  /** Of the frozen weights, as in a request; empty where they are in 16 bits or more. */
  quantization: Record<string, Json>;
}

/** What is trained for. */
export interface Task {
  id: string;
  /** It generates its own completions. */
  online: boolean;
  /** A frozen policy scores the same sequences. */
  reference: boolean;
  /** Fields under "rl" have a meaning. */
  has_rl: boolean;
  /** Of a prompt, by its trainer's default. */
  num_generations: number;
}

/** What nobody trains without, where a request leaves it open. */
export interface Usual {
  pointer: string;
  value: Json;
  why: string;
}

export interface Scenario {
  id: string;
  title: string;
  case: string;
  state: "before" | "after";
  summary: string;
  request: Request;
  /** What the author of the run wrote about it, right or wrong. */
  claims?: {
    what: string;
    says: string;
  }[];
}

export type Quality = "none" | "parity" | "small" | "visible";

/** One field that a plan sets. A fix that sets several has its saving in the first. */
export interface Change {
  fix: string;
  title: string;
  pointer: string;
  from: Json;
  to: Json;
  saves: number;
  why: string;
  quality: Quality;
  evidence: string;
  effort: string;
  setting: string;
  source: string;
}

export interface Plan {
  name: "usual" | "same" | "fewest" | "fastest";
  readings: ("usual" | "same" | "fewest" | "fastest")[];
  verdict: Verdict;
  /** What is left of the usable memory, as the report of the plan's request says. */
  headroom: number;
  changes: Change[];
  peak: Sizes;
  time_factor: number;
  quality: Quality;
  /** Adds the cost of each change up: what a search for the best plan compares. */
  quality_cost: number;
  effective_batch: number;
  /** What lies in the memory of the computer under this plan. */
  host_bytes: number;
  /** States of a paged optimizer, and how many of them stay on the card while it has room. */
  paged?: {
    bytes: number;
    on_card: number;
  };
}

/** Why nothing fits. */
export interface Blocked {
  least: number;
  changes: Change[];
  smallest_tier: number | null;
  locks_in_the_way: string[];
  /** Id of the largest smaller model of the same family that fits with the recipe as it is. */
  sibling: string | null;
  component: string;
  component_bytes: number;
}

export interface Target {
  usable: number;
  verdict: Verdict;
  headroom: number;
  plans: Plan[];
  blocked: Blocked | null;
}

/** A further step when a plan still fails (`saves`), or something to buy with room to spare (`costs`). */
export interface Rung {
  fix: string;
  title: string;
  changes: JsonObject;
  saves?: number;
  costs?: number;
  setting?: string;
  why?: string;
  peak: Sizes;
  /** Against the run as it is, with all steps so far. */
  time_factor: number;
  /** Of a further step: what it does alone, after those before it. */
  step?: {
    saves: number;
    time_factor: number;
  };
  /** Of a further step: what the plan and all steps up to this one do together. */
  so_far?: {
    saves: number;
    time_factor: number;
  };
  quality?: Quality;
}

/** A way out that changes the machine or the model, not the recipe. */
export interface Elsewhere {
  id: string;
  title: string;
  name?: string;
  model?: string;
  gpu?: string;
  gpus?: number;
  provider?: string;
  provider_name?: string;
  instance?: string;
  usable?: number;
  parameters?: number;
  high?: number;
  changes?: JsonObject;
  usd_per_hour?: number;
  /** Of the whole run, where its length is known; usd is what they cost. */
  hours?: number;
  usd?: number;
  time_factor?: number;
  /** Of several cards: how much of their number is speed. */
  efficiency?: number;
  effective_batch?: number;
  /** Of packing: samples in a step as it is, and in full rows. */
  samples_per_step_before?: number;
  samples_per_step?: number;
  why: string;
  evidence?: string;
  date?: string;
  source?: string;
}

/** A machine to rent, its cards shared out, with the recipe as it is (`fix` is "") or with one change. */
export interface RentRow {
  provider: string;
  provider_name: string;
  instance: string;
  region: string;
  gpu: string;
  name: string;
  gpus: number;
  strategy: string;
  fix: string;
  title: string;
  /** All fields to set: those of the cards and that of the fix. */
  changes: JsonObject;
  high: number;
  /** Of the machine's own memory, at least; 0 where it is no more than any has. */
  host_bytes: number;
  /** What the machine has of it, where a source states it. */
  host_gib?: number;
  seconds_per_step: number;
  /** How much of the number of cards is speed. */
  efficiency: number;
  usd_per_hour: number;
  usd_per_1000_steps: number;
  hours?: number;
  usd?: number;
  /** Of a notebook service: a session ends after so many hours; so many sessions are needed. */
  session_hours?: number;
  sessions?: number;
  date: string;
  note?: string;
  source: string;
}

/** Which machine to rent. Both lists have the cheapest first. The answers are those of dated prices, where there are any; notebook services lead nothing. */
export interface Rent {
  cheapest: RentRow | null;
  unchanged: RentRow | null;
  fastest: RentRow | null;
  /** What is cheaper than the cheapest, at a price that nobody has dated; may be out of date. */
  undated: RentRow | null;
  machines: RentRow[];
  notebooks: RentRow[];
}

export interface Limits {
  per_device_train_batch_size: number | null;
  max_length: number | null;
  r: number | null;
  image_size: number | null;
  model: {
    id: string;
    parameters: number;
    high: number;
  } | null;
  costs: Record<string, number | null>;
  map: {
    per_device_train_batch_size: number[];
    max_length: number[];
    verdicts: Verdict[][];
  };
}

export interface Advice {
  schema: number;
  core: string;
  ok: boolean;
  errors: CoreError[];
  /** What libraries refuse of this run; among the notes of a report of the second module. */
  refused: Note[];
  peak: Sizes;
  tiers: {
    usable: number;
    verdict: Verdict;
    headroom: number;
    plans: Plan[];
    blocked: Blocked | null;
    gib: number;
    gpus: string[];
  }[];
  gpu: {
    usable: number;
    verdict: Verdict;
    headroom: number;
    plans: Plan[];
    blocked: Blocked | null;
    id: string;
    name: string;
    ladder: Rung[];
    spend: Rung[];
    elsewhere: Elsewhere[];
  } | null;
  /** Null where nobody asked (`want: ["rent"]`) or the hardware is locked. */
  rent: Rent | null;
  /** Every fix that applies, alone. */
  fixes: {
    fix: string;
    title: string;
    changes: JsonObject;
    saves: number;
    time_factor: number;
    quality: Quality;
    why: string;
    evidence: string;
    effort: string;
    setting: string;
    source: string;
  }[];
  limits: Limits | null;
  /** What no other set of fixes beats in memory, time and quality at once. */
  front: {
    high: number;
    time_factor: number;
    quality_cost: number;
    fixes: string[];
  }[];
  search: {
    replays: number;
    priced: number;
  };
  habits: {
    code: string;
    message: string;
    bytes: number;
    source: string;
  }[];
}

export interface ComparedRun {
  model: string;
  instant: string;
  allocated: number;
  device: number;
  needed: number;
  high: number;
  seconds_per_step: number;
  /** Absent while the request names no GPU. */
  gpu?: string;
  verdict?: Verdict;
  headroom?: number;
  effective_batch: number;
  trainable: number;
}

export interface Comparison {
  schema: number;
  core: string;
  ok: boolean;
  errors: CoreError[];
  a: ComparedRun;
  b: ComparedRun;
  /** Shares that add up to the whole difference, largest first. */
  differences: {
    field: string;
    a: Json;
    b: Json;
    device: number;
    allocated: number;
    seconds_per_step: number;
  }[];
  no_effect: {
    field: string;
    a: Json;
    b: Json;
  }[];
}
