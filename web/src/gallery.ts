// The documented cases, before and after, one click each.
import { html, nothing, type TemplateResult } from "lit";
import type { Scenario } from "./contract.ts";
import { sameRequest } from "./link.ts";
import { stateWord } from "./scenarios.ts";
import type { Actions, View } from "./view.ts";
import { say } from "./words/say.ts";

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

export function gallery(view: View, actions: Actions): TemplateResult {
  const pairs = new Map<string, Scenario[]>();
  for (const scenario of view.core.scenarios) {
    pairs.set(stem(scenario), [...(pairs.get(stem(scenario)) ?? []), scenario]);
  }
  return html`<ul>
    ${[...pairs.values()].map((pair) => {
      const [first] = pair;
      if (!first) return nothing;
      const ordered = [...pair].sort((one, other) => other.state.localeCompare(one.state));
      return html`<li>
        <span class="case"><b>${first.case}</b> ${first.title}</span>
        <span class="pair">${ordered.map((scenario) => button(scenario, view, actions))}</span>
      </li>`;
    })}
  </ul>`;
}
