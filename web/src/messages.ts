// What stands between the request and its answer: a link that could not be read, values that the core refuses.
import { html, nothing, type TemplateResult } from "lit";
import { dotted } from "./pointer.ts";
import type { Actions, View } from "./view.ts";
import { say } from "./words/say.ts";

export function notice(view: View): TemplateResult | typeof nothing {
  return view.notice ? html`<p class="message" role="alert">${view.notice}</p>` : nothing;
}

export function errors(view: View, actions: Actions): TemplateResult | typeof nothing {
  if (view.errors.length === 0) return nothing;
  return html`<section class="message" aria-labelledby="errors-title">
    <h2 id="errors-title">${say(view.report ? "errors.before" : "errors.none")}</h2>
    <ul>
      ${view.errors.map(
        (error) =>
          html`<li>
            <button type="button" class="link" @click=${() => actions.goTo(error.pointer)}>
              ${error.pointer === "" ? "request" : dotted(error.pointer)}</button
            >:
            <span lang="en"
              >${error.message}
              ${error.allowed ? html`<small>Allowed: ${error.allowed}</small>` : nothing}</span
            >
          </li>`,
      )}
    </ul>
  </section>`;
}
