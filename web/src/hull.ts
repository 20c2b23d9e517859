// The hull: what is on board at the peak, against the load line of the chosen GPU.
import { html, nothing, svg, type TemplateResult } from "lit";
import { ticks } from "d3-array";
import { segments, stacked, swatch } from "./bar.ts";
import type { GpuPreset, Report } from "./contract.ts";
import { label } from "./colours.ts";
import { GIB, significant, size, sizeWords, unit, unitBytes, units } from "./format.ts";
import { instantPhrase } from "./names.ts";
import { say } from "./words/say.ts";
import { cachedAtPeak, peakComponents } from "./peak.ts";
import type { Actions, View } from "./view.ts";

/** The chosen GPU, in GiB: where the bar ends, where the load line is, what the estimate may miss. */
function chosenHull(report: Report, preset: GpuPreset | undefined): TemplateResult {
  const { peak } = report.memory;
  const gpu = report.gpu;
  const nominal = preset ? preset.tier_gib * GIB : 0;
  const end = Math.max(peak.device, peak.high, nominal, gpu?.usable ?? 0) * 1.04;
  const place = (bytes: number) => (100 * bytes) / end;
  const line = gpu ? place(gpu.usable) : 0;
  const bar = { y: 34, height: 44 };
  const description = gpu
    ? say("hull.alt", { size: sizeWords(peak.device), usable: sizeWords(gpu.usable), gpu: gpu.name })
    : say("hull.alt_none", { size: sizeWords(peak.device) });
  return html`
    <svg class="hull-chart" role="img" aria-label=${description} height="124" width="100%">
      ${gpu && nominal > 0
        ? svg`<rect class="hull-body" x="0" y=${bar.y - 6} width="${place(nominal)}%" height=${bar.height + 12} />`
        : nothing}
      ${segments(peakComponents(report), place, bar.y, bar.height)}
      <line class="band" x1="${place(peak.low)}%" x2="${place(peak.high)}%" y1="88" y2="88" />
      <line class="band" x1="${place(peak.low)}%" x2="${place(peak.low)}%" y1="84" y2="92" />
      <line class="band" x1="${place(peak.high)}%" x2="${place(peak.high)}%" y1="84" y2="92" />
      ${gpu
        ? svg`
            <line class="load-halo" x1="${line}%" x2="${line}%" y1="27" y2="96" />
            <line class="load-line" x1="${line}%" x2="${line}%" y1="22" y2="96" />
            <circle class="load-mark" cx="${line}%" cy="14" r="7" />
            <line class="load-line" x1="${line}%" x2="${line}%" y1="3" y2="25" />
            <text class="load-text" x="${line}%" y="18" dx=${line > 55 ? -14 : 14}
              text-anchor=${line > 55 ? "end" : "start"}>${say("card.usable", { usable: sizeWords(gpu.usable) })}</text>`
        : nothing}
      <line class="axis" x1="0" x2="100%" y1="100" y2="100" />
      ${ticks(0, units(end), 4).map((tick, index) => {
        const at = place(tick * unitBytes());
        return svg`
          <line class="axis" x1="${at}%" x2="${at}%" y1="100" y2="105" />
          <text class="tick" x="${at}%" y="119" text-anchor=${index === 0 ? "start" : at > 96 ? "end" : "middle"}
            >${significant(tick)}${index === 0 ? ` ${unit()}` : ""}</text>`;
      })}
    </svg>
  `;
}

/** What can be seen in the bar; each opens to say why it is so large. The table below lists the rest too. */
function legend(view: View, report: Report, actions: Actions): TemplateResult {
  const worthNaming = stacked(peakComponents(report)).filter(
    (component) => component.bytes >= report.memory.peak.device / 1000,
  );
  const open = worthNaming.find(({ id }) => id === view.component);
  return html`
    <ul class="legend">
      ${worthNaming.map(
        ({ id, bytes }) => html`
          <li>
            ${swatch(id)}<button
              type="button"
              class="opens"
              aria-expanded=${id === view.component ? "true" : "false"}
              @click=${() => actions.look({ component: id === view.component ? undefined : id })}
            >
              ${label(id)} <span class="amount">${size(bytes)}</span>
            </button>
          </li>
        `,
      )}
    </ul>
    ${open && view.rest
      ? html`<section class="why" aria-label=${say("why.title", { name: label(open.id) })}>
          <p>${view.rest.coreWords(`what.${open.id}`, open.what)}</p>
          ${view.rest.componentWhy(
            open,
            view.rest.aliveIn(view.more?.memory.timeline, report.memory.peak.instant),
          )}
        </section>`
      : nothing}
  `;
}

export function hull(view: View, report: Report, actions: Actions): TemplateResult {
  const gpu = report.gpu ?? undefined;
  const preset = view.core.gpus.find((candidate) => candidate.id === gpu?.id);
  const cached = cachedAtPeak(report);
  return html`
    <section class="panel" aria-labelledby="hull-title">
      <h3 id="hull-title">${say("hull.title")}</h3>
      <p class="caption">
        ${gpu
          ? say("hull.caption", { moment: instantPhrase(report.memory.peak.instant), gpu: gpu.name })
          : say("hull.caption_none", { moment: instantPhrase(report.memory.peak.instant) })}
        ${cached > 0
          ? say("hull.cached", {
              size: sizeWords(report.memory.peak.device),
              needed: sizeWords(report.memory.peak.device - cached),
            })
          : nothing}
      </p>
      ${chosenHull(report, preset)} ${legend(view, report, actions)}
    </section>
  `;
}
