// The documented cases, before and after, one click each.
import { html, nothing, type TemplateResult } from "lit";
import type { Scenario } from "./contract.ts";
import { sameRequest } from "./link.ts";
import type { Actions, View } from "./view.ts";
import { parts, say } from "./words/say.ts";

/** What the page opens with. */
export const FIRST_SCENARIO = "d-after";

const stateWord = (state: string) =>
  state === "before" ? say("cases.before") : state === "after" ? say("cases.after") : state;

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
    <span class="visually-hidden">${say("cases.case", { id: scenario.case })}, </span>${stateWord(
      scenario.state,
    )}
  </button>`;
}

export function scenarios(view: View, actions: Actions): TemplateResult {
  const pairs = new Map<string, Scenario[]>();
  // Folded, and not worth a moment of the first drawing.
  for (const scenario of view.rest ? view.core.scenarios : []) {
    pairs.set(stem(scenario), [...(pairs.get(stem(scenario)) ?? []), scenario]);
  }
  return html`
    <nav class="scenarios" aria-label=${say("cases.label")}>
      <details>
        <summary>${say("cases.title")}</summary>
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
  if (!origin) return html`<p class="shown"><b>${say("shown.yours")}</b></p>`;
  const untouched = sameRequest(view.request, origin.request);
  if (!untouched) {
    return html`<p class="shown">
      ${parts("shown.from", {
        yours: html`<b>${say("shown.yours")}</b>`,
        case: origin.case,
        state: stateWord(origin.state),
        title: html`<span lang="en">${origin.title}</span>`,
      })}
    </p>`;
  }
  return html`<div class="shown">
    <p>
      <b
        >${say("shown.example", { id: origin.case, state: stateWord(origin.state) })}
        <span lang="en">${origin.title}.</span></b
      >
      <span class="wide-only" lang="en">${origin.summary}</span>
    </p>
    ${origin.claims ? claims(origin.claims) : nothing}
  </div>`;
}

function claims(list: NonNullable<Scenario["claims"]>): TemplateResult {
  return html`<details>
    <summary>${say("shown.claims")}</summary>
    <dl class="claims" lang="en">
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
