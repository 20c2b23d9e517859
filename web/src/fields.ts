// The fields of the form that hold one plain value, as data: a new one is one line here. What a choice may be, and the
// sentence that explains a field, come from the core. Model, method, adapter targets and autocast are made of more
// than one value and have code of their own.
import type { Core } from "./core.ts";
import type { GpuPreset, Json, Request, Task } from "./contract.ts";
import type { Lists } from "./lists.ts";
import { ACCUMULATION, BATCH, CHECKPOINTING, COUNT, LENGTH, taskIn } from "./own.ts";
import { get, isObject } from "./pointer.ts";
import { readNumber } from "./read-number.ts";
import { say, type Word } from "./words/say.ts";

export type Field = {
  pointer: string;
  label: Word;
  /** Below the input, the core's own sentence about the field. */
  explained?: boolean;
  /** Shown only while this holds. */
  when?: (ground: Ground) => boolean;
} & (
  | { kind: "number"; step: number; usual?: string; reads?: (text: string, core: Core) => Json | undefined }
  | { kind: "flag" }
  | { kind: "choice"; labels: Record<string, string> }
);

/** Those that are words and no name of their authors'. */
const TASK_WORDS: Record<string, Word> = {
  classification: "task.classification",
  pretrain: "task.pretrain",
  reward: "task.reward",
};

/** A task as its authors write it: "DPO". */
export function taskName(id: string): string {
  const word = TASK_WORDS[id];
  return word ? say(word) : id === "simpo" ? "SimPO" : id.toUpperCase();
}

/** What a field is shown by: the request, and what the core knows of what it names. */
export type Ground = { core: Pick<Lists, "tasks">; request: Request };

export const taskOf = ({ core, request }: Ground): Task | undefined =>
  taskIn(core.tasks, get(request, "/task"));

export const generates = (ground: Ground): boolean => taskOf(ground)?.online === true;
export const hasAdapters = ({ request }: Pick<Ground, "request">) => isObject(get(request, "/peft"));
const in4Bit = ({ request }: Ground) => get(request, "/quantization/load_in_4bit") === true;
const quantized = (ground: Ground) =>
  in4Bit(ground) || get(ground.request, "/quantization/load_in_8bit") === true;

export const RANK: Field = { pointer: "/peft/r", label: "field.rank", kind: "number", step: 8 };

const LIGER: Field = { pointer: "/training/use_liger_kernel", label: "field.liger", kind: "flag" };
const STEPS: Field = {
  pointer: ACCUMULATION,
  label: "field.accumulation",
  kind: "number",
  step: 1,
};
const PACKING: Field = { pointer: "/training/packing", label: "field.packing", kind: "flag" };
const ATTENTION: Field = {
  pointer: "/model_args/attn_implementation",
  label: "field.attention",
  kind: "choice",
  labels: {
    sdpa: "SDPA",
    flash_attention_2: "FlashAttention-2",
    flash_attention_3: "FlashAttention-3",
    flex_attention: "FlexAttention",
    xformers: "xFormers",
    eager: "eager",
  },
};
const DOUBLE: Field = {
  pointer: "/quantization/bnb_4bit_use_double_quant",
  label: "field.double",
  kind: "flag",
  when: in4Bit,
};
const K_BIT: Field = {
  pointer: "/quantization/prepare_for_kbit_training",
  label: "field.kbit",
  kind: "flag",
  when: quantized,
  explained: true,
};
const DROPOUT: Field = {
  pointer: "/peft/lora_dropout",
  label: "field.dropout",
  kind: "number",
  step: 0.05,
  when: hasAdapters,
};
const STACK: Field = { pointer: "/stack", label: "field.stack", kind: "choice", labels: {}, explained: true };
const IN_USE: Field = {
  pointer: "/hardware/in_use_gib",
  label: "field.in_use",
  kind: "number",
  step: 0.5,
  explained: true,
};

/** What hours, cost and a shorter length depend on. */
const DATA: Field[] = [
  { pointer: "/data/samples", label: "field.samples", kind: "number", step: 1000, explained: true },
  { pointer: "/data/epochs", label: "field.epochs", kind: "number", step: 1, explained: true },
  { pointer: "/data/mean_length", label: "field.mean_length", kind: "number", step: 64, explained: true },
  { pointer: "/data/p50_length", label: "field.p50_length", kind: "number", step: 64, explained: true },
  { pointer: "/data/p90_length", label: "field.p90_length", kind: "number", step: 64, explained: true },
  { pointer: "/data/p95_length", label: "field.p95_length", kind: "number", step: 64, explained: true },
  { pointer: "/data/p99_length", label: "field.p99_length", kind: "number", step: 64, explained: true },
  { pointer: "/data/longest_length", label: "field.longest", kind: "number", step: 64, explained: true },
];

/** "4090" is the name of a card, and no count of them. */
export const cardCalled = ({ gpus }: Pick<Core, "gpus">, text: string): GpuPreset | undefined =>
  gpus
    .filter(({ name }) => /^\d{4}$/.test(text) && name.split(" ").includes(text))
    .sort((one, other) => one.name.length - other.name.length)[0];

export const CARDS: Field = {
  pointer: COUNT,
  label: "field.gpus",
  kind: "number",
  step: 1,
  usual: "1",
  reads: (text, core) => (cardCalled(core, text.trim()) ? undefined : readNumber(text, COUNT)),
};
export const STRATEGY: Field & { kind: "choice" } = {
  pointer: "/parallel/strategy",
  label: "field.strategy",
  kind: "choice",
  labels: {
    ddp: "DDP",
    fsdp: "FSDP",
    fsdp2: "FSDP2",
    zero0: "DeepSpeed ZeRO-0",
    zero1: "DeepSpeed ZeRO-1",
    zero2: "DeepSpeed ZeRO-2",
    zero3: "DeepSpeed ZeRO-3",
  },
};

/** With model, GPU and method, the seven inputs that are always in sight. */
export const SAMPLES: Field[] = [
  { pointer: BATCH, label: "field.batch", kind: "number", step: 1 },
  {
    pointer: LENGTH,
    label: "field.length",
    kind: "number",
    step: 128,
    // Where completions are generated, prompt and completion have lengths of their own.
    when: (ground) => !generates(ground),
  },
];

export const MEASURES: Field[] = [
  {
    pointer: "/training/optim",
    label: "field.optimizer",
    kind: "choice",
    labels: {
      adamw_torch: "AdamW (adamw_torch)",
      adamw_torch_fused: "AdamW fused (adamw_torch_fused)",
      adamw_8bit: "AdamW 8-bit (adamw_8bit)",
      paged_adamw_32bit: "AdamW paged (paged_adamw_32bit)",
      paged_adamw_8bit: "AdamW 8-bit paged (paged_adamw_8bit)",
      adafactor: "Adafactor (adafactor)",
      lion_32bit: "Lion (lion_32bit)",
      lion_8bit: "Lion, 8-bit (lion_8bit)",
      sgd: "SGD (sgd)",
    },
  },
  {
    pointer: CHECKPOINTING,
    label: "field.checkpointing",
    kind: "flag",
  },
];

export const WEIGHT_TYPE: Field = {
  pointer: "/model_args/dtype",
  label: "field.dtype",
  kind: "choice",
  labels: {},
};

/** The rest, folded by topic; the first two topics have inputs of their own as well. */
export const TOPICS = {
  adapters: [RANK, DROPOUT],
  precision: [WEIGHT_TYPE, DOUBLE, K_BIT],
  step: [STEPS, PACKING, ATTENTION, LIGER],
  around: [STACK, IN_USE],
  data: DATA,
} satisfies Record<string, Field[]>;

export const ALL_FIELDS: Field[] = [
  CARDS,
  STRATEGY,
  ...SAMPLES,
  ...MEASURES,
  ...Object.values(TOPICS).flat(),
];

/** What a choice may be, with a name where it has one. */
export function choices(field: Field & { kind: "choice" }, core: Core): [value: string, label: string][] {
  if (field.pointer === "/stack") return core.stacks.map((stack) => [stack.id, stack.name]);
  if (field.pointer === "/task") return core.tasks.map(({ id }) => [id, taskName(id)]);
  const words = core.fields.get(field.pointer)?.allowed.split(", ") ?? Object.keys(field.labels);
  return words.map((word) => [word, field.labels[word] ?? word]);
}
