// What the verdict card offers beside its answer: questions that only the person can answer, the shortest ways out, what was
// done last with its undo, how far it can go, and what was assumed.
import { html, nothing, type TemplateResult } from "lit";
import { fixes as plansOf, isStale, otherWays } from "./advice/fixes.ts";
import type { GpuPreset, Json, Report } from "./contract.ts";
import { count, size, sizeWords, withOwnMarks } from "./format.ts";
import { choices, COUNT, generates, STRATEGY } from "./fields.ts";
import { effective } from "./inputs.ts";
import {
  ACCUMULATION,
  BATCH,
  CHECKPOINTING,
  isMethod,
  isPacked,
  METHODS,
  methodEdits,
  packedWays,
  precisionEdits,
  saysMethod,
  unsaid,
  type Edit,
  type Method,
} from "./own.ts";
import { methodName } from "./method-field.ts";
import { remarks } from "./notes.ts";
import { dotted, get, plain } from "./pointer.ts";
import type { Actions, View } from "./view.ts";
import { coreWords, gist } from "./words/core-words.ts";
import { EN_REST } from "./words/en-rest.ts";
import { cost } from "./rent.ts";
import { isAnswered } from "./paste/together.ts";
import { MODELS } from "./scenarios.ts";
import { linkButton } from "./share/share-panel.ts";
import { say, sayCore, type Word } from "./words/say.ts";

type Answer = [label: string, edits: Edit[]];

const one = (pointer: string, label: string, value: Json): Answer => [label, [{ pointer, value }]];

/** What most people train on; anything else is typed. */
export const GPUS = ["t4", "rtx-3090", "rtx-4090", "l40s", "a100-sxm-80", "h100-sxm"];
const LENGTHS = [512, 1024, 2048, 4096, 8192];
const COUNTS = [1, 2, 4, 8];
const BATCHES = [1, 2, 4, 8];
const IMAGES = [0, 1, 2, 4];
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

const likeliest = ({ core }: View, capacity: number): string | undefined => cardsOf(core, capacity)[0]?.id;

function answers(pointer: string, view: View): Answer[] {
  const { models } = view.core;
  switch (pointer) {
    case "/model":
      return [...new Set([view.like ?? "", ...MODELS])]
        .filter((id) => models.some(({ hf_id }) => hf_id === id))
        .map((id) => one(pointer, id.replace(/^.*\//, ""), id));
    case "/hardware/gpu":
      return cards(view).map(({ id, name }) => one(pointer, name, id));
    case "/parallel/num_gpus":
      return COUNTS.filter((each) => each >= view.ranks).map((each) => one(pointer, `${each}`, each));
    case BATCH:
      return BATCHES.map((each) => one(pointer, `${each}`, each));
    case "/vision/images_per_sample":
      return IMAGES.map((each) => one(pointer, each === 0 ? say("ask.none") : `${each}`, each));
    case "/vision/image_size":
      return SIDES.map((each) => one(pointer, count(each), each));
    case "/training/max_length":
    case "/rl/max_prompt_length":
      return LENGTHS.map((each) => one(pointer, count(each), each));
    default:
      return [];
  }
}

function question(pointer: string): string {
  const word = `ask.${pointer.split("/").pop() ?? ""}`;
  return Object.hasOwn(EN_REST, word) ? say(word as Word) : say("ask.other", { field: dotted(pointer) });
}

function ask(pointer: string, choices: Answer[], view: View, actions: Actions): TemplateResult {
  const taken = effective(view, pointer);
  const name = choices.find(([, [edit]]) => edit?.value === taken)?.[0];
  return html`<div class="ask" role="group" aria-label=${question(pointer)}>
    <b>${question(pointer)}</b>
    ${pointer === "/hardware/gpu" && view.capacity !== undefined ? size(view.capacity) : nothing}
    ${choices.map(
      ([label, edits]) => html`<button type="button" @click=${() => actions.answer(edits)}>${label}</button>`,
    )}
    <button type="button" class="quiet" @click=${() => actions.goTo(pointer)}>${say("ask.else")}</button>
    ${taken === undefined
      ? nothing
      : html`<small>${say("ask.taken", { value: name ?? plain(taken) })}</small>`}
  </div>`;
}

const asksStrategy = ({ request }: View): boolean =>
  Number(get(request, COUNT.pointer) ?? 1) > 1 && get(request, STRATEGY.pointer) === undefined;

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
  if (saysMethod(request, assumed)) return nothing;
  const packed = isPacked(request);
  const name = `${get(request, "/quantization/quant_method")}`.toUpperCase();
  const ways = packed
    ? packedWays()
    : METHODS.map((method) => ({ id: method.id, edits: methodEdits(method, undefined, undefined) }));
  const taken = packed ? "packed" : (METHODS.find((method) => isMethod(method, request))?.id ?? "full");
  const named = (id: Method["id"] | "packed") => {
    const method = METHODS.find((each) => each.id === id);
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
function warnings(view: View, report: Report, actions: Actions): TemplateResult[] {
  return remarks(report, view.advice)
    .filter(({ code, decisive }) => decisive && code !== "shared_over_one_gpu")
    .map(
      ({ code, message }) =>
        html`<div class="ask">
          ${gist(`note.${code}`, message, say("notes.original"))}
          ${code === "no_bf16"
            ? html`<button
                type="button"
                @click=${() => actions.answer(precisionEdits(view.request, view.core.gpus))}
              >
                ${say("ask.fp16")}
              </button>`
            : nothing}
        </div>`,
    );
}

function asked(view: View, report: Report | undefined): string[] {
  const missing = unsaid(view.request, report, view.assumed);
  return view.assumed.includes("/hardware/gpu") ? [...missing, "/hardware/gpu"] : missing;
}

/** Whether an answer of the person's may change the figures. */
const isOpen = (view: View, report: Report): boolean =>
  asked(view, report).length > 0 || asksStrategy(view) || !saysMethod(view.request, view.assumed);

function asks(view: View, report: Report | undefined, actions: Actions): TemplateResult {
  const missing = asked(view, report);
  return html`${missing.map((pointer) => ask(pointer, answers(pointer, view), view, actions))}
  ${report
    ? [strategyAsk(view, actions), methodAsk(view, actions), ...warnings(view, report, actions)]
    : nothing}`;
}

function done(view: View, actions: Actions): TemplateResult | typeof nothing {
  if (!view.undo) return nothing;
  return html`<p class="undo" role="status">
    ${view.done} <button type="button" @click=${() => actions.undo()}>${say("plan.undo")}</button>
  </p>`;
}

/** A run that died and is called to fit was read wrongly somewhere: that goes before any figure. */
function contradiction({ died, request, report }: View): TemplateResult | typeof nothing {
  if (!died || report?.gpu?.verdict !== "fits" || !isAnswered(died, request)) return nothing;
  return html`<p class="told" role="status">${say("card.died")}</p>`;
}

// Ways out

const FIXES = 3;

function fixes(view: View, report: Report, actions: Actions): TemplateResult | typeof nothing {
  const { advice } = view;
  if (!report.gpu || report.gpu.verdict === "fits") return nothing;
  if (advice?.gpu?.id !== report.gpu.id) return html`<p class="way-out">${say("lede.looking")}</p>`;
  const plans = plansOf(advice.gpu.plans, advice.gpu.usable);
  const ways = [...plans, ...otherWays(advice.gpu.elsewhere, plans.length)].slice(0, FIXES);
  if (ways.length === 0) return html`<p class="way-out">${say("lede.no_plan")}</p>`;
  const stale = isStale(view.advised, view);
  return html`<ul class="ways ${stale ? "stale" : ""}" ?inert=${stale} aria-label=${say("plan.title")}>
    ${ways.map(({ titles, needs, effect, edits }) => {
      const words = titles.map(([word, title]) => coreWords(word, title));
      const what = titles.map(([word, title]) => sayCore(word) ?? title).join(", ");
      return html`<li>
        <span
          ><b>${words.map((word, index) => html`${index > 0 ? " + " : ""}${word}`)}</b>
          <small>${needs}, ${effect}</small></span
        >
        <button
          type="button"
          class="apply"
          aria-label="${say("plan.apply")}: ${what}"
          @click=${() => actions.apply(edits, say("plan.did", { what }))}
        >
          ${say("plan.apply")}
        </button>
      </li>`;
    })}
  </ul>`;
}

// Limits and assumptions

const DTYPE = "/model_args/dtype";
const LENGTH = "/training/max_length";
const CHIPS: [pointer: string, name: Word][] = [
  [COUNT.pointer, "field.gpus"],
  [BATCH, "field.batch"],
  [LENGTH, "field.length"],
  [ACCUMULATION, "field.accumulation"],
  ["/rl/num_generations", "field.generations"],
  ["/rl/max_completion_length", "field.completion"],
  ["/rl/vllm_gpu_memory_utilization", "field.vllm_share"],
  [DTYPE, "field.dtype"],
  ["/training/optim", "field.optimizer"],
  ["/training/gradient_checkpointing", "field.checkpointing"],
  ["/peft/r", "field.rank"],
  ["/peft/target_modules", "targets.label"],
  ["/stack", "field.stack"],
];

function said(pointer: string, value: Json | undefined, { core }: View): string {
  const stack = pointer === "/stack" ? core.stacks.find(({ id }) => id === value) : undefined;
  if (stack) return stack.name;
  if (typeof value === "boolean") return say(value ? "chip.on" : "form.off");
  if (typeof value === "number") return withOwnMarks(`${value}`);
  return Array.isArray(value) ? value.map(plain).join(", ") : plain(value ?? "");
}

/** What is there already is no button. */
function limit(
  word: Word,
  pointer: string,
  most: number | null | undefined,
  view: View,
  actions: Actions,
): TemplateResult | typeof nothing {
  if (typeof most !== "number") return nothing;
  const words = say(word, { value: count(most) });
  const why = say("chip.most");
  if (effective(view, pointer) === most) return html`<span title=${why}>${words}</span>`;
  return html`<button
    type="button"
    title=${why}
    @click=${() => actions.apply([{ pointer, value: most }], words)}
  >
    ${words}
  </button>`;
}

/** What lies in the machine's own memory, where that is more than on a card. */
function host(
  { memory: { host_bytes = 0, peak } }: Report,
  actions: Actions,
): TemplateResult | typeof nothing {
  if (host_bytes <= peak.device) return nothing;
  return html`<button type="button" @click=${() => actions.chooseTab("breakdown")}>
    ${say("chip.host", { size: sizeWords(host_bytes) })}
  </button>`;
}

/** The cheapest machine that the run fits as it is, or with one change: the one that leads the list of the costs. */
function cheapest(view: View, actions: Actions): TemplateResult | typeof nothing {
  const row = view.advice?.rent?.cheapest;
  if (!row) return nothing;
  return html`<button type="button" @click=${() => actions.chooseTab("cost")}>
    ${say(row.fix === "" ? "chip.cheapest" : "chip.cheapest_fix", {
      machine: `${row.gpus > 1 ? `${row.gpus} × ` : ""}${row.name} (${row.provider_name})`,
      price: cost(row),
    })}
  </button>`;
}

interface Assumed {
  pointer: string;
  why: string;
  text: string;
}

/** What the page or the stack has put where nobody has said it. */
function assumedIn(view: View, report: Report): Assumed[] {
  return CHIPS.flatMap(([pointer, name]): Assumed[] => {
    if (view.assumed.includes(pointer) && get(view.request, pointer) !== undefined) {
      const text = `${say(name)}: ${said(pointer, get(view.request, pointer), view)}`;
      return [{ pointer, why: say(pointer === CHECKPOINTING ? "chip.prepared" : "chip.neutral"), text }];
    }
    if (pointer === COUNT.pointer && report.gpu && get(view.request, pointer) === undefined)
      return [{ pointer, why: say("chip.one_gpu"), text: `${say(name)}: 1` }];
    if (pointer === ACCUMULATION) return [];
    if (generates(view.request) && pointer === LENGTH) return [];
    const found = report.assumptions.find((each) => each.pointer === pointer && !each.asked);
    // What a checkpoint is stored in is no surprise; twice of it is: TRL loads fp32.
    if (pointer === DTYPE && found?.value !== "float32") return [];
    return found
      ? [{ pointer, why: found.why, text: `${say(name)}: ${said(pointer, found.value, view)}` }]
      : [];
  });
}

/** How far it can go, and what nobody said; each leads to its input. */
function chips(view: View, report: Report, actions: Actions): TemplateResult {
  // Whoever does not know the length asks how long it may be: that is known as soon as the card is.
  const open = unsaid(view.request, report, view.assumed).filter((pointer) => pointer !== LENGTH);
  const most = open.length === 0 ? view.advice?.limits : undefined;
  const limits = report.gpu ? most : undefined;
  const assumed = assumedIn(view, report);
  const stale = isStale(view.limited, view);
  const found = [
    limits?.per_device_train_batch_size === null
      ? html`<span>${say("chip.no_batch")}</span>`
      : limit("chip.batch", BATCH, limits?.per_device_train_batch_size, view, actions),
    limit("chip.length", LENGTH, most?.max_length, view, actions),
    cheapest(view, actions),
  ];
  return html`<p>
      <span class="limits ${stale ? "stale" : ""}" ?inert=${stale}>${found}</span>
      ${host(report, actions)} ${linkButton(view, actions)}
    </p>
    ${assumed.length === 0
      ? nothing
      : html`<p class="assumed">
          <span>${say("assumptions.title")}</span>
          ${assumed.map(
            ({ pointer, why, text }) =>
              html`<button type="button" title=${why} @click=${() => actions.goTo(pointer)}>${text}</button>`,
          )}
        </p>`}`;
}

export const card = { asks, isOpen, contradiction, done, fixes, chips, likeliest };
