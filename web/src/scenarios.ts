// The documented cases, before and after, one click each.
import { html, nothing, type TemplateResult } from "lit";
import type { Scenario } from "./contract.ts";
import { sameRequest } from "./link.ts";
import type { Actions, View } from "./view.ts";

/** "a-stage-1-before" and "a-stage-1-after" belong together. */
const stem = (scenario: Scenario) => scenario.id.replace(/-(before|after)$/, "");

function button(scenario: Scenario, view: View, actions: Actions): TemplateResult {
  const open = view.origin?.id === scenario.id;
  const untouched = open && sameRequest(view.request, scenario.request);
  return html`<button
    type="button"
    aria-pressed=${untouched ? "true" : "false"}
    title=${scenario.summary}
    data-scenario=${scenario.id}
    @click=${() => actions.open(scenario)}
  >
    <span class="visually-hidden">Case ${scenario.case}, </span>${scenario.state}
  </button>`;
}

export function scenarios(view: View, actions: Actions): TemplateResult {
  const pairs = new Map<string, Scenario[]>();
  for (const scenario of view.core.scenarios) {
    pairs.set(stem(scenario), [...(pairs.get(stem(scenario)) ?? []), scenario]);
  }
  return html`
    <nav class="scenarios" aria-label="Documented cases">
      <details ?open=${view.casesOpen}>
        <summary>Five runs that ran out of memory, before and after their authors' changes</summary>
        <ul>
          ${[...pairs.values()].map((pair) => {
            const [first] = pair;
            if (!first) return nothing;
            const ordered = [...pair].sort((one, other) => other.state.localeCompare(one.state));
            return html`<li>
              <span class="case"><b>${first.case}</b> ${first.title}</span>
              <span class="pair">${ordered.map((scenario) => button(scenario, view, actions))}</span>
            </li>`;
          })}
        </ul>
      </details>
    </nav>
  `;
}

/** What is being shown, and how it came about. */
export function title(view: View): TemplateResult {
  const { origin } = view;
  if (!origin) return html`<p class="shown"><b>Your request</b></p>`;
  const untouched = sameRequest(view.request, origin.request);
  if (!untouched) {
    return html`<p class="shown">
      <b>Your request,</b> begun from case ${origin.case}, ${origin.state}: ${origin.title}.
    </p>`;
  }
  return html`<div class="shown">
    <p><b>Case ${origin.case}, ${origin.state}: ${origin.title}.</b> ${origin.summary}</p>
    ${origin.claims ? claims(origin.claims) : nothing}
  </div>`;
}

function claims(list: NonNullable<Scenario["claims"]>): TemplateResult {
  return html`<details>
    <summary>What its author wrote</summary>
    <dl class="claims">
      ${list.map(
        ({ what, says }) =>
          html`<div>
            <dt>${what}</dt>
            <dd>${says}</dd>
          </div>`,
      )}
    </dl>
  </details>`;
}
