// The answer in words, and the figures behind it.
import { html, nothing, type TemplateResult } from "lit";
import type { Report } from "./contract.ts";
import { count, gibShort, gibWords, parameters, percent, share, size, sizeName } from "./format.ts";
import { label } from "./colours.ts";
import { headline } from "./headline.ts";
import { instantPhrase, VERDICTS } from "./names.ts";

function peakSentence(report: Report): TemplateResult {
  const peak = report.memory.peak;
  const components = report.memory.instants.find((instant) => instant.id === peak.instant)?.components ?? [];
  const largest = [...components].sort((one, other) => other.bytes - one.bytes)[0];
  const range =
    peak.low < peak.high ? html` (between ${gibShort(peak.low)} and ${gibShort(peak.high)})` : nothing;
  const main = largest
    ? html`; ${share(largest.bytes, peak.device)} of it is ${label(largest.id).toLowerCase()}`
    : nothing;
  return html`The highest point is ${gibWords(peak.device)}${range}, in the
  ${instantPhrase(peak.instant)}${main}.`;
}

/** PyTorch gives back the blocks it holds unused before it fails, so those do not decide. */
function withoutCache(report: Report): TemplateResult | typeof nothing {
  const { peak } = report.memory;
  const gpu = report.gpu;
  if (!gpu || peak.device <= gpu.usable || peak.needed >= peak.device) return nothing;
  return gpu.verdict === "no"
    ? html`Even when PyTorch gives back all blocks that it holds unused, ${gibWords(peak.needed)} are needed.`
    : html`It fits once PyTorch gives back blocks that it holds unused: ${gibWords(peak.needed)} are needed.`;
}

/** A size counts when its smallest card is enough, so one card of a smaller size may be enough too. */
function smallestTier(report: Report): TemplateResult | typeof nothing {
  const smallest = report.tiers.find((tier) => tier.verdict === "fits");
  if (smallest) return html`Every GPU of ${sizeName(smallest.gib)} or more is enough.`;
  return report.tiers.length > 0 ? html`No size in the list is enough on every card.` : nothing;
}

export function verdict(report: Report): TemplateResult {
  const { peak } = report.memory;
  const { model, gpu } = report;
  return html`
    <section class="verdict" aria-labelledby="verdict-headline" data-verdict=${gpu?.verdict ?? "none"}>
      <h2 id="verdict-headline">
        ${gpu ? html`<span class="sign" aria-hidden="true">${VERDICTS[gpu.verdict].sign}</span>` : nothing}
        <span>${headline(report)}</span>
      </h2>
      <p class="lede">${peakSentence(report)} ${withoutCache(report)} ${smallestTier(report)}</p>
      <dl class="figures">
        <div>
          <dt>nvidia-smi shows</dt>
          <dd>${size(peak.device)}</dd>
        </div>
        <div>
          <dt>PyTorch reserves</dt>
          <dd>${size(peak.reserved)}</dd>
        </div>
        <div>
          <dt>PyTorch allocates</dt>
          <dd>${size(peak.allocated)}</dd>
        </div>
        <div>
          <dt>Trainable</dt>
          <dd>
            ${count(model.trainable)}
            <small>${percent(model.trainable_percent)} of ${parameters(model.parameters)}</small>
          </dd>
        </div>
        ${model.adapter_file_bytes > 0
          ? html`<div>
              <dt>Adapter file</dt>
              <dd>${size(model.adapter_file_bytes)}</dd>
            </div>`
          : nothing}
        ${model.checkpoint_bytes > 0
          ? html`<div>
              <dt>Each checkpoint</dt>
              <dd>${size(model.checkpoint_bytes)}</dd>
            </div>`
          : nothing}
      </dl>
    </section>
  `;
}

/** The verdict in one line, for narrow screens where the answer is out of sight while a setting changes. */
export function ribbon(report: Report, stale: boolean, verdictInSight: boolean): TemplateResult {
  const gpu = report.gpu;
  return html`
    <div class="ribbon" ?hidden=${verdictInSight} data-verdict=${gpu?.verdict ?? "none"} aria-hidden="true">
      ${gpu ? html`<span class="sign">${VERDICTS[gpu.verdict].sign}</span>` : nothing}
      <span>${stale ? "Not recomputed: see the message" : headline(report)}</span>
    </div>
  `;
}
