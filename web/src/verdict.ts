// The answer in words: what it needs of what there is, and of what most of that is. What helps, what was assumed and what is
// still to be said come with the rest of the page (card.ts).
import { html, nothing, type TemplateResult } from "lit";
import type { Report } from "./contract.ts";
import { sizeShort, sizeWords, sizeName } from "./format.ts";
import { label } from "./colours.ts";
import { headline } from "./headline.ts";
import { cachedAtPeak } from "./peak.ts";
import { instantPhrase, VERDICTS } from "./names.ts";
import type { Actions, View } from "./view.ts";
import { parts, say } from "./words/say.ts";

const LARGEST = 3;

/** The figure that decides: PyTorch gives back the blocks it holds unused before it fails. The chart beside it holds them too. */
function subtraction(report: Report): TemplateResult {
  const { gpu } = report;
  const { peak } = report.memory;
  const cached = cachedAtPeak(report);
  const range = { low: sizeShort(peak.low), high: sizeShort(peak.high) };
  if (!gpu) return html`${say("lede.range", range)}`;
  return html`${parts("lede.needs", {
    size: html`<b>${sizeShort(gpu.usable - gpu.headroom)}</b>`,
    usable: html`<b>${sizeWords(gpu.usable)}</b>`,
  })}
  ${say("lede.range", range)} ${cached > 0 ? say("lede.cached", { size: sizeWords(peak.device) }) : nothing}`;
}

function largest(report: Report): string {
  const { instants, peak } = report.memory;
  const components = instants.find((instant) => instant.id === peak.instant)?.components ?? [];
  const most = [...components].sort((one, other) => other.bytes - one.bytes).slice(0, LARGEST);
  return say("lede.peak", {
    moment: instantPhrase(peak.instant),
    components: most.map(({ id, bytes }) => `${label(id)} ${sizeWords(bytes)}`).join(", "),
  });
}

/** A size counts when its smallest card is enough, so one card of a smaller size may be enough too. */
function smallestTier(report: Report): string {
  const smallest = report.tiers.find((tier) => tier.verdict === "fits");
  if (!smallest) return say("lede.none");
  const { gpus, peak } = report.memory;
  // What is needed on the chosen card may be more than a smaller one has.
  const shared = smallest.usable < peak.needed ? `${say("lede.engine")} ` : "";
  return shared + say(gpus > 1 ? "lede.each" : "lede.smallest", { gpus, size: sizeName(smallest.gib) });
}

/** A first figure is marked as one: the whole answer, or the person's own, may be another. */
function provisional(view: View, report: Report): TemplateResult | typeof nothing {
  const open = view.rest?.card.isOpen(view, report) === true;
  if (view.more && !view.waiting && !open) return nothing;
  return html`<p class="provisional">${say(open ? "lede.open" : "lede.first")}</p>`;
}

export function verdict(view: View, report: Report | undefined, actions: Actions): TemplateResult {
  const { rest } = view;
  const gpu = report?.gpu;
  return html`
    <section class="verdict" aria-labelledby="verdict-headline" data-verdict=${gpu?.verdict ?? "none"}>
      ${report ? provisional(view, report) : nothing}
      <h2 id="verdict-headline" tabindex="-1">
        ${gpu ? html`<span class="sign" aria-hidden="true">${VERDICTS[gpu.verdict].sign}</span>` : nothing}
        <span>${headline(report, view.request)}</span>
      </h2>
      ${rest?.card.contradiction(view)} ${rest?.card.asks(view, report, actions)}
      ${report
        ? html`<p class="lede sum">${subtraction(report)}</p>
            <p class="lede">${largest(report)} ${smallestTier(report)}</p>`
        : nothing}
      ${rest?.card.done(view, actions)} ${report ? rest?.card.fixes(view, report, actions) : nothing}
      <div class="chips">${report ? rest?.card.chips(view, report, actions) : nothing}</div>
    </section>
  `;
}

/** The verdict in one line, for narrow screens where the answer is out of sight while a setting changes. */
export function ribbon(view: View, verdictInSight: boolean): TemplateResult {
  const gpu = view.report?.gpu;
  return html`
    <div class="ribbon" ?hidden=${verdictInSight} data-verdict=${gpu?.verdict ?? "none"} aria-hidden="true">
      ${gpu ? html`<span class="sign">${VERDICTS[gpu.verdict].sign}</span>` : nothing}
      <span>${view.errors.length > 0 ? say("errors.none") : headline(view.report, view.request)}</span>
    </div>
  `;
}
