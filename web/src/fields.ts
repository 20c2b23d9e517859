// The fields of the form that hold one plain value, as data: a new one is one line here. What a choice may be, and the
// sentence that explains a field, come from the core. Model, method, adapter targets and autocast are made of more
// than one value and have code of their own.
import type { Core } from "./core.ts";
import type { Request } from "./contract.ts";
import { get, isObject } from "./pointer.ts";

export type Field = {
  pointer: string;
  label: string;
  /** Below the input, the core's own sentence about the field. */
  explained?: boolean;
  /** Shown only while this holds. */
  when?: (request: Request) => boolean;
} & (
  | { kind: "number"; step: number }
  | { kind: "flag" }
  | { kind: "choice"; labels: Record<string, string> }
);

export const hasAdapters = (request: Request) => isObject(get(request, "/peft"));
const in4Bit = (request: Request) => get(request, "/quantization/load_in_4bit") === true;
const quantized = (request: Request) =>
  in4Bit(request) || get(request, "/quantization/load_in_8bit") === true;

export const RANK: Field = { pointer: "/peft/r", label: "Rank", kind: "number", step: 8 };

export const BATCH: Field[] = [
  { pointer: "/training/per_device_train_batch_size", label: "Micro-batch", kind: "number", step: 1 },
  { pointer: "/training/gradient_accumulation_steps", label: "Accumulation", kind: "number", step: 1 },
  { pointer: "/training/max_length", label: "Max length", kind: "number", step: 128 },
];

export const MEASURES: Field[] = [
  {
    pointer: "/training/gradient_checkpointing",
    label: "Gradient checkpointing",
    kind: "flag",
    explained: true,
  },
  {
    pointer: "/training/optim",
    label: "Optimizer",
    kind: "choice",
    labels: {
      adamw_torch: "AdamW (adamw_torch)",
      adamw_torch_fused: "AdamW, fused (adamw_torch_fused)",
      adamw_8bit: "AdamW, 8-bit (adamw_8bit)",
      paged_adamw_32bit: "AdamW, paged (paged_adamw_32bit)",
      paged_adamw_8bit: "AdamW, paged 8-bit (paged_adamw_8bit)",
      adafactor: "Adafactor (adafactor)",
      lion_32bit: "Lion (lion_32bit)",
      lion_8bit: "Lion, 8-bit (lion_8bit)",
      sgd: "SGD (sgd)",
    },
  },
];

export const WEIGHT_TYPE: Field = {
  pointer: "/model_args/dtype",
  label: "Weights held in",
  kind: "choice",
  labels: {},
};

export const MORE: Field[] = [
  {
    pointer: "/stack",
    label: "Training stack",
    kind: "choice",
    labels: {},
    explained: true,
  },
  {
    pointer: "/model_args/attn_implementation",
    label: "Attention",
    kind: "choice",
    labels: {
      sdpa: "SDPA",
      flash_attention_2: "FlashAttention-2",
      eager: "eager",
    },
  },
  { pointer: "/training/use_liger_kernel", label: "Liger kernels", kind: "flag" },
  {
    pointer: "/quantization/bnb_4bit_use_double_quant",
    label: "Double quantization",
    kind: "flag",
    when: in4Bit,
  },
  {
    pointer: "/quantization/prepare_for_kbit_training",
    label: "Prepare for k-bit training",
    kind: "flag",
    when: quantized,
    explained: true,
  },
  { pointer: "/peft/lora_dropout", label: "LoRA dropout", kind: "number", step: 0.05, when: hasAdapters },
  {
    pointer: "/hardware/in_use_gib",
    label: "GiB in use by others",
    kind: "number",
    step: 0.5,
    explained: true,
  },
];

export const ALL_FIELDS: Field[] = [RANK, ...BATCH, ...MEASURES, WEIGHT_TYPE, ...MORE];

/** What a choice may be, with a name where it has one. */
export function choices(field: Field & { kind: "choice" }, core: Core): [value: string, label: string][] {
  if (field.pointer === "/stack") return core.stacks.map((stack) => [stack.id, stack.name]);
  const words = core.fields.get(field.pointer)?.allowed.split(", ") ?? Object.keys(field.labels);
  return words.map((word) => [word, field.labels[word] ?? word]);
}
