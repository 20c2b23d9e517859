// The named moments of a run, in order, with the peak marked. Choosing one lists its components.
import { html, nothing, type TemplateResult } from "lit";
import { segments } from "./bar.ts";
import type { Instant, Report } from "./contract.ts";
import { sizeShort, sizeWords } from "./format.ts";
import { named } from "./names.ts";
import { EN_REST } from "./words/en-rest.ts";
import { say } from "./words/say.ts";
import type { Actions, View } from "./view.ts";

export const instantName = (id: string) => named(EN_REST, "instant", id);

function row(instant: Instant, report: Report, shown: string, actions: Actions): TemplateResult {
  const { peak } = report.memory;
  const isPeak = instant.id === peak.instant;
  const place = (bytes: number) => (100 * bytes) / peak.device;
  return html`
    <tr class=${isPeak ? "mine" : ""}>
      <th scope="row">
        <button
          type="button"
          class="quiet"
          aria-pressed=${instant.id === shown ? "true" : "false"}
          @click=${() => actions.look({ instant: isPeak ? undefined : instant.id })}
        >
          ${instantName(instant.id)}</button
        >${isPeak ? html` <span class="tag">${say("instants.peak")}</span>` : nothing}
      </th>
      <td class="bar">
        <svg width="100%" height="18" aria-hidden="true">${segments(instant.components, place, 2, 14)}</svg>
      </td>
      <td class="number">${sizeShort(instant.allocated)}</td>
      <td class="number wide-only">${sizeShort(instant.reserved)}</td>
      <td class="number">${sizeShort(instant.device)}</td>
    </tr>
  `;
}

export function instants(view: View, report: Report, actions: Actions): TemplateResult {
  const shown = view.instant ?? report.memory.peak.instant;
  const { instant: peak, first_step: first } = report.memory.peak;
  return html`
    <section class="panel" aria-labelledby="instants-title">
      <h3 id="instants-title">${say("instants.title")}</h3>
      <table class="instants">
        <caption class="caption">
          ${say("instants.caption")}
          ${first.instant === peak
            ? nothing
            : say("instants.first_step", {
                moment: instantName(first.instant),
                size: sizeWords(first.allocated),
              })}
        </caption>
        <thead>
          <tr>
            <th scope="col">${say("instants.moment")}</th>
            <th scope="col">${say("instants.memory")}</th>
            <th scope="col" class="number">${say("instants.allocated")}</th>
            <th scope="col" class="number wide-only">${say("instants.reserved")}</th>
            <th scope="col" class="number">${say("instants.device")}</th>
          </tr>
        </thead>
        <tbody>
          ${report.memory.instants.map((instant) => row(instant, report, shown, actions))}
        </tbody>
      </table>
    </section>
  `;
}
