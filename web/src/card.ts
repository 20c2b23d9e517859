// What the verdict card offers beside its answer: questions that only the person can answer, the shortest ways out, what was
// done last with its undo, how far it can go, and what was assumed.
import { html, nothing, type TemplateResult } from "lit";
import { fixes as plansOf } from "./advice/fixes.ts";
import type { Assumption, GpuPreset, Json, Report } from "./contract.ts";
import { count, size } from "./format.ts";
import { effective } from "./inputs.ts";
import { METHODS, methodEdits, unsaid, type Edit } from "./own.ts";
import { dotted, get, plain } from "./pointer.ts";
import type { Actions, View } from "./view.ts";
import { coreWords, gist } from "./words/core-words.ts";
import { EN_REST } from "./words/en-rest.ts";
import { cost } from "./rent.ts";
import { linkButton } from "./share/share-panel.ts";
import { say, type Word } from "./words/say.ts";

type Answer = [label: string, edits: Edit[]];

const one = (pointer: string, label: string, value: Json): Answer => [label, [{ pointer, value }]];

/** What most people train, and on what; anything else is typed. */
const MODELS = [
  "meta-llama/Llama-3.1-8B",
  "Qwen/Qwen3-8B",
  "mistralai/Mistral-7B-v0.3",
  "google/gemma-3-4b-it",
];
const GPUS = ["t4", "rtx-3090", "rtx-4090", "l40s", "a100-sxm-80", "h100-sxm"];
const LENGTHS = [512, 1024, 2048, 4096, 8192];
const COUNTS = [1, 2, 4, 8];

/** Within this of what a message says that the card has: it is that card, as far as anybody can tell. */
const SAME = 0.006;

function cards({ core, capacity }: View): GpuPreset[] {
  const far = (gpu: GpuPreset) => Math.abs(gpu.usable_bytes / (capacity ?? 1) - 1);
  const like = core.gpus.filter((gpu) => far(gpu) < SAME).sort((left, right) => far(left) - far(right));
  if (like.length > 0) return like.slice(0, GPUS.length);
  return core.gpus.filter(({ id }) => GPUS.includes(id));
}

function answers(pointer: string, view: View): Answer[] {
  const { models } = view.core;
  switch (pointer) {
    case "/model":
      return MODELS.filter((id) => models.some(({ hf_id }) => hf_id === id)).map((id) =>
        one(pointer, id.replace(/^.*\//, ""), id),
      );
    case "/hardware/gpu":
      return cards(view).map(({ id, name }) => one(pointer, name, id));
    case "/parallel/num_gpus":
      return COUNTS.map((each) => one(pointer, `${each}`, each));
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
  return html`<div class="ask" role="group" aria-label=${question(pointer)}>
    <b>${question(pointer)}</b>
    ${pointer === "/hardware/gpu" && view.capacity !== undefined ? size(view.capacity) : nothing}
    ${choices.map(
      ([label, edits]) =>
        html`<button type="button" @click=${() => actions.edit(edits, "step")}>${label}</button>`,
    )}
    <button type="button" class="quiet" @click=${() => actions.goTo(pointer)}>${say("ask.else")}</button>
    ${taken === undefined ? nothing : html`<small>${say("ask.taken", { value: plain(taken) })}</small>`}
  </div>`;
}

/** The method is asked for too where nothing says it: then all weights are trained, which few mean. */
function methodAsk(view: View, actions: Actions): TemplateResult | typeof nothing {
  const { request } = view;
  if (get(request, "/peft") !== undefined || get(request, "/quantization") !== undefined) return nothing;
  return html`<div class="ask" role="group" aria-label=${say("ask.method")}>
    <b>${say("ask.method")}</b>
    ${METHODS.map(
      (method) =>
        html`<button
          type="button"
          @click=${() => actions.edit(methodEdits(method, undefined, undefined), "step")}
        >
          ${say(`method.${method.id}`)}
        </button>`,
    )}
    <small>${say("ask.taken", { value: say("method.full") })}</small>
  </div>`;
}

/** What the core remarks of the run that would make the answer pointless. */
const WARNINGS = ["beyond_context", "no_bf16"];

function warnings(report: Report): TemplateResult[] {
  return report.notes
    .filter(({ code }) => WARNINGS.includes(code))
    .map(
      ({ code, message }) =>
        html`<div class="ask">${gist(`note.${code}`, message, say("notes.original"))}</div>`,
    );
}

function asks(view: View, report: Report | undefined, actions: Actions): TemplateResult {
  const missing = unsaid(view.request, report);
  return html`${missing.map((pointer) => ask(pointer, answers(pointer, view), view, actions))}
  ${report ? [methodAsk(view, actions), ...warnings(report)] : nothing}`;
}

function done(view: View, actions: Actions): TemplateResult | typeof nothing {
  if (!view.undo) return nothing;
  return html`<p class="undo" role="status">
    ${view.done} <button type="button" @click=${() => actions.undo()}>${say("plan.undo")}</button>
  </p>`;
}

// Ways out

const FIXES = 3;

function fixes(view: View, report: Report, actions: Actions): TemplateResult | typeof nothing {
  const { advice } = view;
  if (!report.gpu || report.gpu.verdict === "fits") return nothing;
  if (advice?.gpu?.id !== report.gpu.id) return html`<p class="way-out">${say("lede.looking")}</p>`;
  const ways = plansOf(advice.gpu.plans, advice.gpu.usable).slice(0, FIXES);
  if (ways.length === 0) return html`<p class="way-out">${say("lede.no_plan")}</p>`;
  return html`<ul class="ways" aria-label=${say("plan.title")}>
    ${ways.map(({ titles, needs, effect, edits }) => {
      const words = titles.map(([fix, title]) => coreWords(`fix.${fix}`, title));
      const what = titles.map(([, title]) => title).join(", ");
      return html`<li>
        <span
          >${words.map((word, index) => html`${index > 0 ? ", " : ""}<b>${word}</b>`)}: ${needs},
          ${effect}</span
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

const CHIPS: [pointer: string, name: Word][] = [
  ["/training/per_device_train_batch_size", "field.batch"],
  ["/training/max_length", "field.length"],
  ["/training/optim", "field.optimizer"],
  ["/training/gradient_checkpointing", "field.checkpointing"],
  ["/peft/r", "field.rank"],
  ["/peft/target_modules", "targets.label"],
  ["/stack", "field.stack"],
];

const value = (assumption: Assumption): string =>
  typeof assumption.value === "boolean"
    ? say(assumption.value ? "chip.on" : "form.off")
    : Array.isArray(assumption.value)
      ? assumption.value.map(plain).join(", ")
      : plain(assumption.value);

function limit(word: Word, pointer: string, most: number | null | undefined, actions: Actions) {
  if (typeof most !== "number") return nothing;
  return html`<button
    type="button"
    @click=${() => actions.apply([{ pointer, value: most }], say(word, { value: count(most) }))}
  >
    ${say(word, { value: count(most) })}
  </button>`;
}

/** The cheapest machine that the run fits as it is, or with one change. */
function cheapest(view: View, actions: Actions): TemplateResult | typeof nothing {
  const found = view.advice?.rent;
  const row = found?.unchanged ?? found?.cheapest;
  if (!row) return nothing;
  return html`<button type="button" @click=${() => actions.chooseTab("cost")}>
    ${say("chip.cheapest", {
      machine: `${row.gpus > 1 ? `${row.gpus} × ` : ""}${row.name} (${row.provider_name})`,
      price: cost(row),
    })}
  </button>`;
}

/** How far it can go, and what nobody said; each leads to its input. */
function chips(view: View, report: Report, actions: Actions): TemplateResult {
  const limits = report.gpu ? view.advice?.limits : undefined;
  const assumed = CHIPS.flatMap(([pointer, name]) => {
    const found = report.assumptions.find((each) => each.pointer === pointer && !each.asked);
    return found ? [{ found, name }] : [];
  });
  return html`${limit("chip.batch", CHIPS[0]![0], limits?.per_device_train_batch_size, actions)}
  ${limit("chip.length", CHIPS[1]![0], limits?.max_length, actions)} ${cheapest(view, actions)}
  ${assumed.length + view.assumed.length > 0 ? html`<span>${say("assumptions.title")}:</span>` : nothing}
  ${CHIPS.filter(([pointer]) => view.assumed.includes(pointer)).map(
    ([pointer, name]) =>
      html`<button type="button" title=${say("chip.neutral")} @click=${() => actions.goTo(pointer)}>
        ${say(name)}: ${plain(get(view.request, pointer) ?? "")}
      </button>`,
  )}
  ${assumed.map(
    ({ found, name }) =>
      html`<button type="button" title=${found.why} @click=${() => actions.goTo(found.pointer)}>
        ${say(name)}: ${value(found)}
      </button>`,
  )}
  ${linkButton(view, actions)}`;
}

export const card = { asks, done, fixes, chips };
