// What the verdict card offers beside its answer: what is asked (asks.ts), the shortest ways out, what was done last with its
// undo, how far it can go, and what was assumed.
import { html, nothing, type TemplateResult } from "lit";
import { fixes as plansOf, isStale, otherWays } from "./advice/fixes.ts";
import { lengthEdits } from "./advice/limits.ts";
import { asks, isOpen, likeliest } from "./asks.ts";
import type { Json, Report } from "./contract.ts";
import { count, figure, sizeWords } from "./format.ts";
import { generates, taskName } from "./fields.ts";
import { effective } from "./inputs.ts";
import { ACCUMULATION, BATCH, CHECKPOINTING, COUNT, LENGTH, unsaid } from "./own.ts";
import { get, plain } from "./pointer.ts";
import type { Actions, View } from "./view.ts";
import { coreWords } from "./words/core-words.ts";
import { cost } from "./rent.ts";
import { isAnswered } from "./paste/together.ts";
import { linkButton } from "./share/share-panel.ts";
import { say, sayCore, type Word } from "./words/say.ts";

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
const CHIPS: [pointer: string, name: Word][] = [
  [COUNT, "field.gpus"],
  [BATCH, "field.batch"],
  [LENGTH, "field.length"],
  [ACCUMULATION, "field.accumulation"],
  ["/rl/num_generations", "field.generations"],
  ["/rl/max_completion_length", "field.completion"],
  ["/rl/vllm_gpu_memory_utilization", "field.vllm_share"],
  [DTYPE, "field.dtype"],
  ["/training/optim", "field.optimizer"],
  [CHECKPOINTING, "field.checkpointing"],
  ["/peft/r", "field.rank"],
  ["/peft/target_modules", "targets.label"],
  ["/stack", "field.stack"],
  ["/task", "field.task"],
];

function said(pointer: string, value: Json | undefined, { core }: View): string {
  const stack = pointer === "/stack" ? core.stacks.find(({ id }) => id === value) : undefined;
  if (stack) return stack.name;
  if (pointer === "/task") return taskName(String(value));
  if (typeof value === "boolean") return say(value ? "chip.on" : "form.off");
  if (typeof value === "number") return figure(value);
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
  const edits = pointer === LENGTH ? lengthEdits(view, most) : [{ pointer, value: most }];
  return html`<button type="button" title=${why} @click=${() => actions.apply(edits, words)}>
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
    if (pointer === COUNT && report.gpu && get(view.request, pointer) === undefined)
      return [{ pointer, why: say("chip.one_gpu"), text: `${say(name)}: 1` }];
    if (pointer === ACCUMULATION) return [];
    if (generates(view) && pointer === LENGTH) return [];
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
