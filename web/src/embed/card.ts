// The answer as a card: headline, load line, figures, and the way to the whole page. Drawn by embed.html and by the
// custom element.
import { html, nothing, svg, type TemplateResult } from "lit";
import { segments, stacked, swatch } from "../bar.ts";
import { label } from "../colours.ts";
import { loadMore } from "../more.ts";
import type { Core } from "../core.ts";
import type { Refusal, Report, Request } from "../contract.ts";
import { sizeWords, size } from "../format.ts";
import { headline } from "../headline.ts";
import { decode, type Made } from "../link.ts";
import { changedSince } from "../made.ts";
import { VERDICTS } from "../names.ts";
import { peakComponents } from "../peak.ts";
import { describe } from "../share/describe.ts";
import { say } from "../words/say.ts";

const NAMED = 4;

function bar(report: Report): TemplateResult {
  const { peak } = report.memory;
  const gpu = report.gpu ?? undefined;
  const end = Math.max(peak.device, peak.high, gpu?.usable ?? 0) * 1.04;
  const place = (bytes: number) => (100 * bytes) / end;
  const line = place(gpu?.usable ?? 0);
  const description = gpu
    ? say("card.line", { device: sizeWords(peak.device), usable: sizeWords(gpu.usable) })
    : headline(report);
  return html`<svg class="card-bar" role="img" aria-label=${description} width="100%" height="34">
    ${gpu
      ? svg`<rect class="hull-body" x="0" y="4" width="${line}%" height="26" />`
      : svg`<rect class="hull-body" x="0" y="4" width="100%" height="26" />`}
    ${segments(peakComponents(report), place, 8, 18)}
    ${gpu
      ? svg`<line class="load-halo" x1="${line}%" x2="${line}%" y1="0" y2="34" />
          <line class="load-line" x1="${line}%" x2="${line}%" y1="0" y2="34" />`
      : svg``}
  </svg>`;
}

function answer(report: Report, { request, made }: Prepared, home: string): TemplateResult {
  const { peak } = report.memory;
  const gpu = report.gpu ?? undefined;
  const { model, batch } = describe(report, request);
  const changed = changedSince(made, report);
  const largest = stacked(peakComponents(report))
    .sort((one, other) => other.bytes - one.bytes)
    .slice(0, NAMED);
  return html`<section class="card" data-verdict=${gpu?.verdict ?? "none"}>
    <h1>
      ${gpu ? html`<span class="sign" aria-hidden="true">${VERDICTS[gpu.verdict].sign}</span>` : ""}
      ${headline(report)}
    </h1>
    <p class="what">${model}; ${batch}</p>
    ${changed === undefined ? nothing : html`<p class="changed">${changed}</p>`} ${bar(report)}
    <ul class="legend">
      ${largest.map(
        (each) =>
          html`<li>${swatch(each.id)}${label(each.id)} <span class="amount">${size(each.bytes)}</span></li>`,
      )}
    </ul>
    <p class="foot">
      <span
        >${say("card.peak", {
          device: sizeWords(peak.device),
          low: sizeWords(peak.low),
          high: sizeWords(peak.high),
        })}</span
      >
      <a href=${home} target="_blank" rel="noopener">${say("card.open")}</a>
    </p>
  </section>`;
}

/** What a link asks, and what the core answers; nothing for a link that cannot be read. */
export interface Prepared {
  request: Request;
  /** What the link says that its maker saw. */
  made: Made | undefined;
  answer: Report | Refusal;
}

/** `whole`: by the second module, as the page has it in the end; what its maker saw is compared with that. */
export async function prepare(core: Core, fragment: string, whole = false): Promise<Prepared | undefined> {
  const decoded = decode(fragment);
  // A card stands where nobody can check what it was meant to say.
  if (decoded.kind !== "request" || decoded.unchecked) return undefined;
  const { request, made } = decoded;
  const text = JSON.stringify(request);
  return {
    request,
    made: whole ? made : undefined,
    answer: whole
      ? await (await loadMore()).weigh(request)
      : core.knows(request)
        ? core.report(text)
        : await core.answer(request, text),
  };
}

/** `home`: the address of the page itself, to which the fragment is appended. */
export function card(prepared: Prepared | undefined, fragment: string, home: string): TemplateResult {
  if (!prepared) {
    const decoded = decode(fragment);
    const why = decoded.kind === "broken" ? decoded.message : say("card.broken");
    return html`<section class="card" data-verdict="none"><p role="alert">${why}</p></section>`;
  }
  const { answer: report } = prepared;
  if (!report.ok) {
    const message = report.errors.map((error) => error.message).join(" ");
    return html`<section class="card" data-verdict="none">
      <p role="alert">${say("card.refused", { message })}</p>
    </section>`;
  }
  return answer(report, prepared, `${home}${fragment}`);
}
