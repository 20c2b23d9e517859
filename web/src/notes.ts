// What the core wants said about this request, and what it took for granted.
import { html, nothing, type TemplateResult } from "lit";
import type { Advice, Note, Report } from "./contract.ts";
import { dotted } from "./pointer.ts";
import { gist } from "./words/core-words.ts";
import { coreWords } from "./words/core-words.ts";
import { say } from "./words/say.ts";

/** What libraries refuse the first module does not know: the advice says it, and a report of the second module too. */
export function remarks(report: Report, advice: Advice | undefined): Note[] {
  const refused = advice?.refused ?? [];
  return [
    ...refused,
    ...report.notes.filter((note) => !refused.some(({ message }) => message === note.message)),
  ];
}

export function notes(report: Report, advice: Advice): TemplateResult {
  const all = remarks(report, advice);
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
                      <td>${coreWords(`assumed.${assumption.why}`, assumption.why)}</td>
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
