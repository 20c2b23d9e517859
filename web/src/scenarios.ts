// The documented cases, and which of them is being shown.
import { html, nothing, type TemplateResult } from "lit";
import type { Scenario } from "./contract.ts";
import { sameRequest } from "./link.ts";
import type { Actions, View } from "./view.ts";
import { parts, say } from "./words/say.ts";

/** What most people train; anything else is typed. */
export const MODELS = [
  "meta-llama/Llama-3.1-8B",
  "Qwen/Qwen3-8B",
  "mistralai/Mistral-7B-v0.3",
  "google/gemma-3-4b-it",
];

/** What the page opens with. */
export const FIRST_SCENARIO = "d-after";

export const stateWord = (state: string) =>
  state === "before" ? say("cases.before") : state === "after" ? say("cases.after") : state;

/** Whether nothing of what is shown is the person's own. */
export const isExample = ({ origin, request }: View): boolean =>
  origin !== undefined && sameRequest(request, origin.request);

/** The list itself comes with the rest of the page (gallery.ts): folded, it is not worth a moment of the first answer. */
export const scenarios = (view: View, actions: Actions): TemplateResult =>
  html`<nav class="scenarios" aria-label=${say("cases.label")}>
    <details>
      <summary>${say("cases.title")}</summary>
      ${view.rest ? view.rest.gallery(view, actions) : nothing}
    </details>
  </nav>`;

/** What is being shown, and how it came about. */
export function title(view: View, actions: Actions): TemplateResult {
  const { origin } = view;
  if (!origin) return html`<p class="shown"><b>${say("shown.yours")}</b></p>`;
  if (!isExample(view)) {
    return html`<p class="shown">
      ${parts("shown.from", {
        yours: html`<b>${say("shown.yours")}</b>`,
        title: html`<span lang="en">${origin.title}</span>`,
      })}
    </p>`;
  }
  return html`<div class="shown">
    <p>
      <b>${say("shown.example")} <span lang="en">${origin.title}.</span></b>
      <button type="button" class="link" @click=${() => actions.adopt()}>${say("shown.adopt")}</button>
    </p>
    ${origin.claims ? claims(origin.claims) : nothing}
    <p class="begin">
      ${say("shown.begin")}
      ${MODELS.map(
        (id) =>
          html`<button type="button" @click=${() => actions.answer([{ pointer: "/model", value: id }])}>
            ${id.replace(/^.*\//, "")}
          </button>`,
      )}
    </p>
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
