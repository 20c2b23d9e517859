// The answer in words, and the figures behind it.
import { html, nothing, type TemplateResult } from "lit";
import type { Report } from "./contract.ts";
import { figures } from "./figures.ts";
import { sizeShort, sizeWords, share, sizeName } from "./format.ts";
import { label } from "./colours.ts";
import { headline } from "./headline.ts";
import { instantPhrase, VERDICTS } from "./names.ts";
import type { Actions, View } from "./view.ts";
import { language, parts, say } from "./words/say.ts";

function peakSentence(report: Report): TemplateResult {
  const peak = report.memory.peak;
  const components = report.memory.instants.find((instant) => instant.id === peak.instant)?.components ?? [];
  const largest = [...components].sort((one, other) => other.bytes - one.bytes)[0];
  return html`${parts("lede.peak", {
    size: html`<b>${sizeWords(peak.device)}</b>`,
    low: sizeShort(peak.low),
    high: sizeShort(peak.high),
    moment: instantPhrase(peak.instant),
  })}
  ${largest
    ? say("lede.largest", {
        share: share(largest.bytes, peak.device),
        component: language() === "en" ? label(largest.id).toLowerCase() : label(largest.id),
      })
    : nothing}`;
}

/** PyTorch gives back the blocks it holds unused before it fails, so those do not decide. */
function withoutCache(report: Report): TemplateResult | typeof nothing {
  const { peak } = report.memory;
  const gpu = report.gpu;
  if (!gpu || peak.device <= gpu.usable || peak.needed >= peak.device) return nothing;
  return gpu.verdict === "no"
    ? html`${say("lede.even_without_cache", { size: sizeWords(peak.needed) })}`
    : html`${say("lede.without_cache", { size: sizeWords(peak.needed) })}`;
}

/** A size counts when its smallest card is enough, so one card of a smaller size may be enough too. */
function smallestTier(report: Report): TemplateResult | typeof nothing {
  const smallest = report.tiers.find((tier) => tier.verdict === "fits");
  if (smallest) return html`${say("lede.smallest", { size: sizeName(smallest.gib) })}`;
  return report.tiers.length > 0 ? html`${say("lede.none")}` : nothing;
}

/** The fewest changes that make it fit, here because that is what somebody whose run has died came for; more are below. */
function wayOut(view: View, report: Report, actions: Actions): TemplateResult | typeof nothing {
  const { advice, rest } = view;
  if (!report.gpu || report.gpu.verdict === "fits") return nothing;
  if (!rest || advice?.gpu?.id !== report.gpu.id) return html`<p class="way-out">${say("lede.looking")}</p>`;
  const { plans } = advice.gpu;
  const plan = plans.find((each) => each.readings.includes("fewest")) ?? plans[0];
  if (!plan) return html`<p class="way-out">${say("lede.no_plan")}</p>`;
  const titles = new Map(plan.changes.map(({ fix, title }) => [fix, title]));
  const edits = plan.changes.map(({ pointer, to }) => ({ pointer, value: to }));
  return html`<p class="way-out">
    ${parts("lede.fewest", {
      changes: [...titles].map(
        ([fix, title], index) => html`${index > 0 ? ", " : ""}<b>${rest.coreWords(`fix.${fix}`, title)}</b>`,
      ),
      size: sizeWords(plan.peak.device),
    })}
    <button type="button" @click=${() => actions.apply(edits)}>${say("plan.apply")}</button>
  </p>`;
}

export function verdict(view: View, report: Report, actions: Actions): TemplateResult {
  const { gpu } = report;
  return html`
    <section class="verdict" aria-labelledby="verdict-headline" data-verdict=${gpu?.verdict ?? "none"}>
      <h2 id="verdict-headline">
        ${gpu ? html`<span class="sign" aria-hidden="true">${VERDICTS[gpu.verdict].sign}</span>` : nothing}
        <span>${headline(report)}</span>
      </h2>
      <p class="lede">${peakSentence(report)} ${withoutCache(report)} ${smallestTier(report)}</p>
      ${wayOut(view, report, actions)} ${figures(view, report, actions)}
    </section>
  `;
}

/** The verdict in one line, for narrow screens where the answer is out of sight while a setting changes. */
export function ribbon(report: Report, stale: boolean, verdictInSight: boolean): TemplateResult {
  const gpu = report.gpu;
  return html`
    <div class="ribbon" ?hidden=${verdictInSight} data-verdict=${gpu?.verdict ?? "none"} aria-hidden="true">
      ${gpu ? html`<span class="sign">${VERDICTS[gpu.verdict].sign}</span>` : nothing}
      <span>${stale ? say("ribbon.stale") : headline(report)}</span>
    </div>
  `;
}
