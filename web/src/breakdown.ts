// What fills the memory at one instant, line by line, and why each line is as large as it is.
import { html, nothing, type TemplateResult } from "lit";
import { stacked, swatch } from "./bar.ts";
import { aliveIn, type Alive } from "./alive.ts";
import type { Component, Report } from "./contract.ts";
import { label } from "./colours.ts";
import { componentWhy } from "./component-why.ts";
import { sizeExact, share } from "./format.ts";
import { instantPhrase } from "./names.ts";
import type { View } from "./view.ts";
import { coreWords } from "./words/core-words.ts";
import { say } from "./words/say.ts";

const sentence = (words: string) => (words ? `${words.charAt(0).toUpperCase()}${words.slice(1)}.` : "");

function row(component: Component, total: number, alive: Alive[]): TemplateResult {
  return html`
    <tbody>
      <tr>
        <th scope="row">${swatch(component.id)} ${label(component.id)}</th>
        <td class="number">${sizeExact(component.bytes)}</td>
        <td class="number">${share(component.bytes, total)}</td>
      </tr>
      <tr class="explanation">
        <td colspan="3">
          <details>
            <summary>${coreWords(`what.${component.id}`, component.what)}</summary>
            ${componentWhy(component, alive)}
          </details>
        </td>
      </tr>
    </tbody>
  `;
}

export function breakdown(view: View, report: Report): TemplateResult | typeof nothing {
  const { peak, instants } = report.memory;
  const instant = instants.find((each) => each.id === (view.instant ?? peak.instant)) ?? instants[0];
  if (!instant) return nothing;
  const atPeak = instant.id === peak.instant;
  const alive = aliveIn(view.more?.memory.timeline, instant.id);
  return html`
    <section class="panel for-print" aria-labelledby="breakdown-title">
      <h3 id="breakdown-title">
        ${say(atPeak ? "breakdown.title_peak" : "breakdown.title", { moment: instantPhrase(instant.id) })}
      </h3>
      <table class="breakdown">
        <caption class="caption">
          ${coreWords(`moment.${instant.id}`, sentence(instant.what))} ${say("breakdown.caption")}
        </caption>
        <thead>
          <tr>
            <th scope="col">${say("table.component")}</th>
            <th scope="col" class="number">${say("table.gib")}</th>
            <th scope="col" class="number">${say("breakdown.share")}</th>
          </tr>
        </thead>
        ${stacked(instant.components).map((component) => row(component, instant.device, alive))}
        <tfoot>
          <tr>
            <th scope="row">${say("table.allocated")}</th>
            <td class="number">${sizeExact(instant.allocated)}</td>
            <td class="number">${share(instant.allocated, instant.device)}</td>
          </tr>
          <tr>
            <th scope="row">${say("table.reserved")}</th>
            <td class="number">${sizeExact(instant.reserved)}</td>
            <td class="number">${share(instant.reserved, instant.device)}</td>
          </tr>
          <tr>
            <th scope="row">${say("table.device")}</th>
            <td class="number">${sizeExact(instant.device)}</td>
            <td class="number">${share(instant.device, instant.device)}</td>
          </tr>
        </tfoot>
      </table>
    </section>
  `;
}
