// What stands between the request and its answer: a link that could not be read, values that the core refuses.
import { html, nothing, type TemplateResult } from "lit";
import type { CoreError } from "./contract.ts";
import { count } from "./format.ts";
import { dotted } from "./pointer.ts";
import type { Actions, View } from "./view.ts";
import { say, sayError } from "./words/say.ts";

export function notice(view: View): TemplateResult | typeof nothing {
  return view.notice ? html`<p class="message" role="alert">${view.notice}</p>` : nothing;
}

/** "1 to 65536", in the page's language; other words are names. */
const range = (allowed: string) =>
  /^\S+ (?:to \S+|or more)$/.test(allowed)
    ? allowed.replace(" to ", say("errors.to")).replace(" or more", say("errors.more"))
    : allowed;

/** Of these the core has no more to say than the sentence of their code. */
const SAID = ["negative", "fractional", "out_of_range"];

/** In the page's language as far as it has words for it, and in the core's own. */
export function complaint(error: CoreError): TemplateResult {
  if (error.code === "wrong_type" && error.allowed === "a whole number") {
    return html`<span>${say("errors.whole")}</span>`;
  }
  const translated = sayError(error.code);
  // Models that share some letters with a name are no values that it may have.
  const allowed =
    error.allowed && error.code !== "unknown_model"
      ? html` <small
          >${say("errors.allowed", {
            allowed: range(error.allowed).replace(/\d{5,}/g, (digits) => count(Number(digits))),
          })}</small
        >`
      : nothing;
  return translated
    ? html`<span
        >${translated}${allowed}
        ${SAID.includes(error.code) ? nothing : html`<small lang="en">${error.message}</small>`}</span
      >`
    : html`<span><span lang="en">${error.message}</span>${allowed}</span>`;
}

/** Ways to mend each; and back to what was answered last. */
export function errors(view: View, actions: Actions): TemplateResult | typeof nothing {
  if (view.errors.length === 0) return nothing;
  const { rest, answered } = view;
  return html`<section class="message" aria-labelledby="errors-title">
    <h2 id="errors-title">${say("errors.none")}</h2>
    <ul>
      ${view.errors.map(
        (error) =>
          html`<li>
            <button type="button" class="link" @click=${() => actions.goTo(error.pointer)}>
              ${error.pointer === "" ? "request" : dotted(error.pointer)}</button
            >: ${complaint(error)}
            ${rest && view.draft === undefined
              ? rest
                  .repairs(error, view)
                  .map(
                    ({ label, edits }) =>
                      html`<button type="button" class="repair" @click=${() => actions.answer(edits)}>
                        ${label}
                      </button> `,
                  )
              : nothing}
            ${rest?.hub(error, view, actions)}
          </li>`,
      )}
    </ul>
    ${answered
      ? html`<button type="button" @click=${() => actions.replace({ request: answered, chosen: [] })}>
          ${say("repair.back")}
        </button>`
      : nothing}
  </section>`;
}
