// What the verdict card asks: what only the person can say, each with the answers that most people give.
import { html, nothing, type TemplateResult } from "lit";
import type { GpuPreset, Json, Method, Report } from "./contract.ts";
import { choices, STRATEGY } from "./fields.ts";
import { count, figure, size } from "./format.ts";
import { effective } from "./inputs.ts";
import {
  BATCH,
  COUNT,
  isPacked,
  LENGTH,
  methodEdits,
  methodOf,
  packedWays,
  PRECISION,
  saysMethod,
  unsaid,
  type Edit,
} from "./own.ts";
import { methodName } from "./method-field.ts";
import { remarks } from "./notes.ts";
import { dotted, get, plain } from "./pointer.ts";
import { MODELS } from "./scenarios.ts";
import type { Actions, View } from "./view.ts";
import { gist } from "./words/core-words.ts";
import { EN_REST } from "./words/en-rest.ts";
import { say, type Word } from "./words/say.ts";

type Answer = [label: string, edits: Edit[]];

const one = (pointer: string, label: string, value: Json): Answer => [label, [{ pointer, value }]];

/** What most people train on; anything else is typed. */
export const GPUS = ["t4", "rtx-3090", "rtx-4090", "l40s", "a100-sxm-80", "h100-sxm"];
const LENGTHS = [512, 1024, 2048, 4096, 8192];
const COUNTS = [1, 2, 4, 8];
const BATCHES = [1, 2, 4, 8];
const IMAGES = [0, 1, 2, 4];
/** Samples of a micro-batch whose tokens are known together. */
const SPLITS = [1, 2, 4, 8, 16, 32];
const SIDES = [224, 448, 896, 1344];
const SHARINGS = ["ddp", "fsdp", "zero2", "zero3"];

/** Within this of what a message says that the card has: it is that card, as far as anybody can tell. */
const SAME = 0.006;

/** The cards that have so much, as a message says it or as they are sold ("a 24GB card"); those that most people have first. */
function cardsOf(core: View["core"], capacity: number): GpuPreset[] {
  const sold = capacity / 2 ** 30;
  const off = ({ tier_gib, usable_bytes, usable_high_bytes }: GpuPreset) =>
    Number.isInteger(sold)
      ? Number(tier_gib !== sold) / 2
      : Math.max(usable_bytes / capacity - 1, 1 - usable_high_bytes / capacity, 0);
  const far = (gpu: GpuPreset) => off(gpu) + (GPUS.includes(gpu.id) ? 0 : 1);
  const like = core.gpus.filter((gpu) => far(gpu) % 1 < SAME);
  return like.sort((left, right) => far(left) - far(right)).slice(0, GPUS.length);
}

/** Whoever has a Mac is asked which: the one that is taken, then those that are sold with so much, which is at most their size. */
function macsLike({ gpus }: View["core"], mac: GpuPreset, capacity = mac.tier_gib * 2 ** 30): GpuPreset[] {
  const others = gpus.filter(
    ({ id, vendor, tier_gib }) => id !== mac.id && vendor === "Apple" && tier_gib * 2 ** 30 >= capacity,
  );
  return [mac, ...others.sort((one, other) => one.tier_gib - other.tier_gib)].slice(0, GPUS.length);
}

function cards({ core, capacity, request, assumed }: View): GpuPreset[] {
  const taken = assumed.includes("/hardware/gpu") ? get(request, "/hardware/gpu") : undefined;
  const mac = core.gpus.find(({ id, vendor }) => id === taken && vendor === "Apple");
  if (mac) return macsLike(core, mac, capacity);
  const like = capacity === undefined ? [] : cardsOf(core, capacity);
  return like.length > 0 ? like : core.gpus.filter(({ id }) => GPUS.includes(id) || id === taken);
}

export const likeliest = ({ core }: View, capacity: number): string | undefined =>
  cardsOf(core, capacity)[0]?.id;

/** What the size that failed says of the micro-batch, where nobody says it, and of this model. */
function tokensOf({ failed, report, request, assumed }: View): number | undefined {
  const said = get(request, BATCH) !== undefined && !assumed.includes(BATCH);
  return !said && (failed?.model === "" || failed?.model === report?.model.id) ? failed?.tokens : undefined;
}

/** "4 × 4,096": each answers for the batch too. */
function splits(view: View): Answer[] | undefined {
  const tokens = tokensOf(view);
  if (tokens === undefined) return undefined;
  return SPLITS.filter((batch) => tokens % batch === 0 && tokens / batch >= LENGTHS[0]!).map((batch) => [
    `${batch} × ${count(tokens / batch)}`,
    [
      { pointer: BATCH, value: batch },
      { pointer: LENGTH, value: tokens / batch },
    ],
  ]);
}

function answers(pointer: string, view: View): Answer[] {
  const { models } = view.core;
  switch (pointer) {
    case "/model":
      return [...new Set([view.like ?? "", ...MODELS])]
        .filter((id) => models.some(({ hf_id }) => hf_id === id))
        .map((id) => one(pointer, id.replace(/^.*\//, ""), id));
    case "/hardware/gpu":
      return cards(view).map(({ id, name }) => one(pointer, name, id));
    case COUNT:
      return COUNTS.filter((each) => each >= view.ranks).map((each) => one(pointer, `${each}`, each));
    case BATCH:
      return BATCHES.map((each) => one(pointer, `${each}`, each));
    case "/vision/images_per_sample":
      return IMAGES.map((each) => one(pointer, each === 0 ? say("ask.none") : `${each}`, each));
    case "/vision/image_size":
      return SIDES.map((each) => one(pointer, count(each), each));
    case LENGTH:
    case "/rl/max_prompt_length":
      return (
        (pointer === LENGTH ? splits(view) : undefined) ??
        LENGTHS.map((each) => one(pointer, count(each), each))
      );
    default:
      return [];
  }
}

function question(pointer: string, view: View): string {
  const tokens = pointer === LENGTH ? tokensOf(view) : undefined;
  if (tokens !== undefined) return say("ask.split", { tokens: count(tokens) });
  const word = `ask.${pointer.split("/").pop() ?? ""}`;
  return Object.hasOwn(EN_REST, word) ? say(word as Word) : say("ask.other", { field: dotted(pointer) });
}

function ask(pointer: string, choices: Answer[], view: View, actions: Actions): TemplateResult {
  const taken = effective(view, pointer);
  const name = choices.find(([, [edit]]) => edit?.value === taken)?.[0];
  const words = question(pointer, view);
  return html`<div class="ask" role="group" aria-label=${words}>
    <b>${words}</b>
    ${pointer === "/hardware/gpu" && view.capacity !== undefined
      ? say("ask.has", { size: size(view.capacity) })
      : nothing}
    ${choices.map(
      ([label, edits]) => html`<button type="button" @click=${() => actions.answer(edits)}>${label}</button>`,
    )}
    <button type="button" class="quiet" @click=${() => actions.goTo(pointer)}>${say("ask.else")}</button>
    ${taken === undefined
      ? nothing
      : html`<small
          >${say("ask.taken", {
            value: name ?? (typeof taken === "number" ? figure(taken) : plain(taken)),
          })}</small
        >`}
  </div>`;
}

const asksStrategy = ({ request }: View): boolean =>
  Number(get(request, COUNT) ?? 1) > 1 && get(request, STRATEGY.pointer) === undefined;

/** How several cards share the run, where nobody has said it: each then holds all of it. */
function strategyAsk(view: View, actions: Actions): TemplateResult | typeof nothing {
  if (!asksStrategy(view)) return nothing;
  return ask(
    STRATEGY.pointer,
    choices(STRATEGY, view.core).flatMap(([id, name]) =>
      SHARINGS.includes(id) ? [one(STRATEGY.pointer, name, id)] : [],
    ),
    view,
    actions,
  );
}

/** The method is asked for too where nobody has said it: else all weights are trained, which few mean. */
function methodAsk(view: View, actions: Actions): TemplateResult | typeof nothing {
  const { request, assumed } = view;
  const { methods } = view.core;
  if (saysMethod(request, assumed)) return nothing;
  const packed = isPacked(request);
  const name = `${get(request, "/quantization/quant_method")}`.toUpperCase();
  const ways = packed
    ? packedWays()
    : methods.map((method) => ({ id: method.id, edits: methodEdits(method, undefined, undefined) }));
  const taken = packed ? "packed" : (methodOf(methods, request)?.id ?? "full");
  const named = (id: Method["id"] | "packed") => {
    const method = methods.find((each) => each.id === id);
    return method ? methodName(method, view) : say("method.packed", { name });
  };
  return html`<div class="ask" role="group" aria-label=${say("ask.method")}>
    <b>${say("ask.method")}</b>
    ${ways.map(
      ({ id, edits }) =>
        html`<button type="button" @click=${() => actions.answer(edits)}>${named(id)}</button>`,
    )}
    <small>${say("ask.taken", { value: named(taken) })}</small>
  </div>`;
}

/** How many GPUs there are is asked (strategyAsk). */
function warnings(view: View, report: Report, missing: string[], actions: Actions): TemplateResult[] {
  return (
    remarks(report, view.advice)
      .filter(({ code, decisive }) => decisive && code !== "shared_over_one_gpu")
      // The length and the images that it weighs are asked for.
      .filter(({ code }) => code !== "image_tokens_fill_the_length" || !missing.includes(LENGTH))
      .map(
        ({ code, message }) =>
          html`<div class="ask">
            ${gist(`note.${code}`, message, say("notes.original"))}
            ${code === "no_bf16"
              ? html`<button type="button" @click=${() => actions.answer([], PRECISION)}>
                  ${say("ask.fp16")}
                </button>`
              : nothing}
          </div>`,
      )
  );
}

function asked(view: View, report: Report | undefined): string[] {
  const missing = unsaid(view.request, report, view.assumed);
  return view.assumed.includes("/hardware/gpu") ? [...missing, "/hardware/gpu"] : missing;
}

/** Whether an answer of the person's may change the figures. */
export const isOpen = (view: View, report: Report): boolean =>
  asked(view, report).length > 0 || asksStrategy(view) || !saysMethod(view.request, view.assumed);

export function asks(view: View, report: Report | undefined, actions: Actions): TemplateResult {
  const missing = asked(view, report);
  return html`${missing.map((pointer) => ask(pointer, answers(pointer, view), view, actions))}
  ${report
    ? [strategyAsk(view, actions), methodAsk(view, actions), ...warnings(view, report, missing, actions)]
    : nothing}`;
}
