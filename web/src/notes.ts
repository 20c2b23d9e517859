// What the core wants said about this request, and what it took for granted.
import { html, nothing, type TemplateResult } from "lit";
import type { Note, Report } from "./contract.ts";
import { dotted } from "./pointer.ts";
import { gist } from "./words/core-words.ts";
import { say } from "./words/say.ts";

/** `refused`: what libraries refuse, which the first module does not know. */
export function notes(report: Report, refused: Note[]): TemplateResult {
  const all = [...refused, ...report.notes];
  return html`
    ${all.length > 0
      ? html`<section class="panel" aria-labelledby="notes-title">
          <h3 id="notes-title">${say("notes.title")}</h3>
          <ul class="notes">
            ${all.map((note) => {
              const whole = html`${note.message}
              ${note.source ? html`<small>${note.source}</small>` : nothing}`;
              return html`<li>${gist(`note.${note.code}`, whole, say("notes.original"))}</li>`;
            })}
          </ul>
        </section>`
      : nothing}
    ${report.assumptions.length > 0
      ? html`<section class="panel" aria-labelledby="assumptions-title">
          <h3 id="assumptions-title">${say("assumptions.title")}</h3>
          <details>
            <summary>${say("assumptions.count", { count: report.assumptions.length })}</summary>
            <table class="assumptions">
              <thead>
                <tr>
                  <th scope="col">${say("assumptions.setting")}</th>
                  <th scope="col">${say("assumptions.value")}</th>
                  <th scope="col">${say("assumptions.because")}</th>
                </tr>
              </thead>
              <tbody>
                ${report.assumptions.map(
                  (assumption) => html`
                    <tr>
                      <th scope="row"><code>${dotted(assumption.pointer)}</code></th>
                      <td><code>${JSON.stringify(assumption.value)}</code></td>
                      <td lang="en">${assumption.why}</td>
                    </tr>
                  `,
                )}
              </tbody>
            </table>
          </details>
        </section>`
      : nothing}
  `;
}
