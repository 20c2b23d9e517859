// What makes it fit: plans for one size of GPU, each with its reasons and savings, applied with one click and undone with
// another; and what to do with room to spare.
import { html, nothing, svg, type TemplateResult } from "lit";
import type { Advice, Blocked, Change, Elsewhere, Plan, Report, Rung, Target } from "../contract.ts";
import { label } from "../colours.ts";
import { dollars, sizeWords, size, sizeName } from "../format.ts";
import { VERDICTS } from "../names.ts";
import { dotted, get, plain } from "../pointer.ts";
import type { Actions, View } from "../view.ts";
import { copy } from "../save.ts";
import { capital, isStale, setting, speed } from "./fixes.ts";
import { planTable } from "../share/tables.ts";
import { coreWords } from "../words/core-words.ts";
import { say, sayCore } from "../words/say.ts";

const RUNGS = 5;

/** One row for each fix: the fields it sets together stand together. */
function byFix(changes: Change[]): Change[][] {
  const groups: Change[][] = [];
  for (const change of changes) {
    const last = groups.at(-1);
    if (last?.[0]?.fix === change.fix) last.push(change);
    else groups.push([change]);
  }
  return groups;
}

/** What was done, as the card says it. */
const did = (what: string): string => say("plan.did", { what });

function row(group: Change[]): TemplateResult | typeof nothing {
  const [first] = group;
  if (!first) return nothing;
  const saves = group.reduce((sum, change) => sum + change.saves, 0);
  return html`<tr>
    <th scope="row">
      ${coreWords(`fix.${first.fix}`, first.title)}
      ${group.map(
        (change) =>
          html`<br /><small
              ><code>${dotted(change.pointer)}</code> <s>${setting(change.from)}</s> →
              <b>${setting(change.to)}</b></small
            >`,
      )}
    </th>
    <td>
      ${coreWords(`why.${first.fix}`, first.why)}
      <details>
        <summary>${say("plan.more")}</summary>
        <p lang="en">${first.evidence}</p>
        ${first.setting ? html`<p lang="en"><code>${first.setting}</code></p>` : nothing}
        ${first.source ? html`<p lang="en"><small>${first.source}</small></p>` : nothing}
      </details>
    </td>
    <td class="number">${saves >= 0 ? size(saves) : `\u2212${size(-saves)}`}</td>
  </tr>`;
}

/** Two bars against one load line: what crosses it now, and what is left with the plan. The sentence below says it. */
function beforeAndAfter(before: number, after: number, usable: number): TemplateResult {
  const end = Math.max(before, after, usable) * 1.02;
  const place = (bytes: number) => `${((100 * bytes) / end).toFixed(2)}%`;
  return html`<svg class="before-after" width="100%" height="30" aria-hidden="true">
    ${svg`<rect class="before" x="0" y="3" width=${place(before)} height="9" />
      <rect class="after" x="0" y="17" width=${place(after)} height="9" />
      <line class="load-halo" x1=${place(usable)} x2=${place(usable)} y1="0" y2="30" />
      <line class="load-line" x1=${place(usable)} x2=${place(usable)} y1="0" y2="30" />`}
  </svg>`;
}

async function copyTable(plan: Plan, before: Report, actions: Actions): Promise<void> {
  const text = planTable(plan, before);
  const what = { what: say("plan.copy") };
  if (await copy(text)) actions.tell(say("share.done", what));
  else actions.tell(say("share.failed", what), text);
}

/** Savings are those of the device figure; where the run does not fit, what decides is what it needs without PyTorch's cache. */
function cachedBefore({ memory: { peak } }: Report, needed: number): TemplateResult | typeof nothing {
  if (size(needed) === size(peak.device)) return nothing;
  return html`<p class="caption">${say("plan.cached", { size: size(peak.device) })}</p>`;
}

function card(plan: Plan, shown: Target, before: Report, actions: Actions): TemplateResult {
  const { usable } = shown;
  const edits = plan.changes.map(({ pointer, to }) => ({ pointer, value: to }));
  const titles = plan.changes.map(({ fix, title }) => sayCore(`fix.${fix}`) ?? title);
  const done = did([...new Set(titles)].join(", "));
  // As on the card: states that a paged optimizer moves to RAM need no room.
  const needs = usable - plan.headroom;
  const needed = usable - shown.headroom;
  return html`<article class="plan" data-plan=${plan.name}>
    <header>
      <h4>${capital(plan.readings.map((reading) => say(`plan.${reading}`)).join(", "))}</h4>
      <button type="button" class="apply" @click=${() => actions.apply(edits, done)}>
        ${say("plan.apply")}
      </button>
    </header>
    ${beforeAndAfter(needed, needs, usable)}
    <p>
      ${size(needed)} → <b>${size(needs)}</b>
      ${say("plan.spare", { size: sizeWords(plan.headroom) })} ${capital(speed(plan.time_factor))}.
      ${say(`quality.${plan.quality}`)} ${say("plan.batch", { batch: plan.effective_batch })}
    </p>
    <table>
      <thead>
        <tr>
          <th scope="col">${say("plan.change")}</th>
          <th scope="col">${say("plan.why")}</th>
          <th scope="col" class="number">${say("plan.saves")}</th>
        </tr>
      </thead>
      <tbody>
        ${byFix(plan.changes).map(row)}
      </tbody>
    </table>
    ${cachedBefore(before, needed)}
    <button type="button" class="quiet" @click=${() => void copyTable(plan, before, actions)}>
      ${say("plan.copy")}
    </button>
  </article>`;
}

function blocked(why: Blocked): TemplateResult {
  return html`<p>
    ${say("blocked.least", { size: sizeWords(why.least) })}
    ${why.locks_in_the_way.length > 0
      ? say("blocked.locks", { locks: why.locks_in_the_way.join(", ") })
      : say("blocked.component", { component: label(why.component), size: sizeWords(why.component_bytes) })}
    ${why.smallest_tier === null
      ? say("blocked.none")
      : say("blocked.tier", { size: sizeName(why.smallest_tier) })}
  </p>`;
}

function rung(one: Rung, actions: Actions): TemplateResult {
  const edits = Object.entries(one.changes).map(([pointer, value]) => ({ pointer, value }));
  const done = did(sayCore(`fix.${one.fix}`) ?? one.title);
  return html`<li>
    ${coreWords(`fix.${one.fix}`, one.title)}
    <small>${edits.map(({ pointer, value }) => `${dotted(pointer)} = ${plain(value)}`).join(", ")}</small>:
    ${one.saves !== undefined ? say("rung.saves", { size: size(one.saves) }) : nothing}
    ${one.costs !== undefined ? say("rung.costs", { size: size(Math.max(0, one.costs)) }) : nothing}
    ${capital(speed(one.step?.time_factor ?? one.time_factor))}.
    <button type="button" class="quiet" @click=${() => actions.apply(edits, done)}>
      ${say("plan.apply")}
    </button>
  </li>`;
}

function rungs(title: string, list: Rung[], actions: Actions): TemplateResult | typeof nothing {
  if (list.length === 0) return nothing;
  return html`<details>
    <summary>${title}</summary>
    <ol class="notes">
      ${list.slice(0, RUNGS).map((one) => rung(one, actions))}
    </ol>
  </details>`;
}

/** Another machine, stack or model, with the recipe as it is; those that are settings of the page can be applied. */
function otherWays(list: Elsewhere[], open: boolean, actions: Actions): TemplateResult | typeof nothing {
  if (list.length === 0) return nothing;
  const editsOf = (way: Elsewhere) => {
    if (way.changes) return Object.entries(way.changes).map(([pointer, value]) => ({ pointer, value }));
    if (way.id === "larger_gpu" && way.gpu) return [{ pointer: "/hardware/gpu", value: way.gpu }];
    return way.model ? [{ pointer: "/model", value: way.model }] : [];
  };
  return html`<details ?open=${open}>
    <summary>${say("plan.elsewhere")}</summary>
    <ul class="notes">
      ${list.map((way) => {
        const edits = editsOf(way);
        const what =
          way.model ?? `${(way.gpus ?? 1) > 1 ? `${way.gpus} × ` : ""}${way.name ?? way.gpu ?? ""}`;
        return html`<li>
          ${coreWords(`way.${way.id}`, way.title)}: <b>${what}</b>${way.usd_per_hour === undefined
            ? nothing
            : `, ${way.provider_name ?? ""}, ${dollars(way.usd_per_hour)}/h`}.
          ${coreWords(`way_why.${way.id}`, way.why)}
          ${edits.length > 0
            ? html`<button
                type="button"
                class="quiet"
                @click=${() => actions.apply(edits, did(`${sayCore(`way.${way.id}`) ?? way.title}: ${what}`))}
              >
                ${say("plan.apply")}
              </button>`
            : nothing}
          ${way.source ? html`<small lang="en">${way.source}</small>` : nothing}
        </li>`;
      })}
    </ul>
  </details>`;
}

/** The size of the card that is named, or the one nearest to it, while a question is open and no plan is for the card itself. */
function named({ core, request }: View, { tiers }: Advice): Advice["tiers"][number] | undefined {
  const gib = core.gpus.find(({ id }) => id === get(request, "/hardware/gpu"))?.tier_gib;
  if (gib === undefined) return undefined;
  const off = (tier: { gib: number }) => Math.abs(tier.gib - gib);
  return [...tiers].sort((one, other) => off(one) - off(other))[0];
}

/** The size whose plans are shown: the one asked for, or that of the chosen GPU, or the largest that needs a plan. */
function target(view: View, advice: Advice): (Target & { name: string; gib?: number }) | undefined {
  const wanted = view.planTier;
  const chosen = advice.gpu;
  if (wanted === undefined && chosen) return chosen;
  const tier =
    advice.tiers.find((each) => each.gib === wanted) ??
    named(view, advice) ??
    advice.tiers.find((each) => each.verdict !== "fits");
  return tier ? { ...tier, name: sizeName(tier.gib) } : undefined;
}

/** The sizes of which plans can be seen; how many plans there are is said of those that were worked out. */
function sizes(advice: Advice, view: View, report: Report, actions: Actions): TemplateResult {
  const chosen = advice.gpu;
  const shown = target(view, advice)?.gib ?? view.planTier;
  const plansOf = (gib: number) => advice.tiers.find((tier) => tier.gib === gib)?.plans.length ?? 0;
  const ascending = report.tiers.map(({ gib, verdict }) => ({ gib, verdict, plans: plansOf(gib) }));
  return html`<div class="field inline">
    <label for="plan-tier">${say("plan.for")}</label>
    <select
      id="plan-tier"
      @change=${(event: Event) => {
        const value = (event.target as HTMLSelectElement).value;
        actions.look({ planTier: value === "" ? undefined : Number(value) });
      }}
    >
      ${chosen ? html`<option value="" ?selected=${shown === undefined}>${chosen.name}</option>` : nothing}
      ${ascending.map(
        (tier) =>
          html`<option value=${tier.gib} ?selected=${tier.gib === shown}>
            ${sizeName(tier.gib)}:
            ${VERDICTS[tier.verdict].word}${tier.verdict !== "fits" && tier.plans > 0
              ? `, ${say(tier.plans === 1 ? "plan.one" : "plan.count", { count: tier.plans })}`
              : ""}
          </option>`,
      )}
    </select>
  </div>`;
}

function found(advice: Advice, view: View, report: Report, actions: Actions): TemplateResult {
  const shown = target(view, advice);
  const own = shown !== undefined && shown === advice.gpu;
  const locked = get(view.request, "/locks");
  return html`<p class="caption">
      ${say("plan.caption")}
      ${Array.isArray(locked) ? say("plan.locks", { locks: locked.join(", ") }) : nothing}
    </p>
    ${sizes(advice, view, report, actions)}
    ${view.told?.message.includes(say("plan.copy"))
      ? html`<p class="told">${view.told.message}</p>`
      : nothing}
    ${!shown && view.planTier !== undefined
      ? html`<p class="caption" aria-busy="true">${say("plan.working")}</p>`
      : nothing}
    ${shown?.verdict === "fits" ? html`<p>${say("plan.fits", { name: shown.name })}</p>` : nothing}
    ${shown && shown.verdict !== "fits" && shown.plans.length > 0
      ? html`<div class="plans">${shown.plans.map((plan) => card(plan, shown, report, actions))}</div>`
      : nothing}
    ${shown?.blocked ? blocked(shown.blocked) : nothing}
    ${own && advice.gpu
      ? html`${rungs(say("plan.ladder"), advice.gpu.ladder, actions)}
        ${rungs(say("plan.spend"), advice.gpu.spend, actions)}
        ${otherWays(advice.gpu.elsewhere, advice.gpu.blocked !== null, actions)}`
      : nothing}
    ${advice.habits.length > 0
      ? html`<details>
          <summary>${say("plan.habits")}</summary>
          <ul class="notes">
            ${advice.habits.map(
              ({ code, bytes, message }) =>
                html`<li>${coreWords(`habit.${code}`, message, { size: size(bytes) })}</li>`,
            )}
          </ul>
        </details>`
      : nothing}`;
}

/** One heading before the plans are there and after, so that whoever has come to it stays on it. */
export function plans(view: View, report: Report, actions: Actions): TemplateResult | typeof nothing {
  const { advice } = view;
  if (advice && !advice.ok) return nothing;
  const stale = isStale(view.advised, view);
  return html`<section
    class=${advice ? `panel for-print${stale ? " stale" : ""}` : "panel"}
    ?inert=${stale}
    aria-labelledby="plans-title"
    aria-busy=${advice ? nothing : "true"}
  >
    <h3 id="plans-title">${say("plan.title")}</h3>
    ${advice ? found(advice, view, report, actions) : html`<p class="caption">${say("plan.working")}</p>`}
  </section>`;
}
