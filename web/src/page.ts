// All that is on the screen with the first answer. The app draws it on every change; web/first-answer.ts draws it once, when
// the site is built, so that the opening case is there before any script is.
import { html, nothing, type TemplateResult } from "lit";
import { form } from "./form.ts";
import { hull } from "./hull.ts";
import { errors, notice } from "./messages.ts";
import type { Failed, UseEvent } from "./paste/used.ts";
import { isExample, scenarios, title } from "./scenarios.ts";
import { sentence, sheetHead, showForm } from "./sheet.ts";
import { ribbon, verdict } from "./verdict.ts";
import type { Actions, View } from "./view.ts";
import { language, say, spoken } from "./words/say.ts";

export interface Around {
  /** What screen readers are told. */
  announcement: string;
  verdictInSight: boolean;
  /** How many of the parts are drawn: the first drawing of each costs a slow phone a frame or two. */
  drawn: number;
}

/** The frame, the form, the verdict, the hull. */
export const STAGES = 4;

export function page(
  view: View,
  actions: Actions,
  { announcement, verdictInSight, drawn }: Around,
): TemplateResult {
  const { report } = view;
  // Where no model is named none is fetched: which it is is asked at once.
  const awaited = view.waiting && view.request["model"] !== undefined;
  const asking = !report && !awaited && view.errors.length === 0;
  return html`
    <main>
      <div
        class="side"
        @keydown=${(event: KeyboardEvent) => {
          if (event.key === "Escape" && !event.defaultPrevented) showForm(false);
        }}
      >
        ${drawn > 1 ? html`${sheetHead()} ${form(view, actions)}` : nothing}
      </div>
      <div class="starts">
        <plimsoll-paste
          .request=${view.request}
          .example=${isExample(view)}
          .assumed=${view.assumed}
          .known=${report?.gpu != null}
          .place=${view.pasted}
          .spoken=${spoken()}
          .mended=${view.undo !== undefined && view.chosen.length === 0}
          @failed=${({ detail }: CustomEvent<Failed | undefined>) => actions.look({ failed: detail })}
          @use=${(event: UseEvent) => actions.replace(event.detail)}
        ></plimsoll-paste>
        ${scenarios(view, actions)}
      </div>
      <div class="top">
        ${view.rest?.updateNotice(view, actions)} ${notice(view)} ${title(view, actions)}
        ${sentence(view, actions)}
      </div>
      <div class="head">
        ${errors(view, actions)} ${asking && drawn > 2 ? verdict(view, undefined, actions) : nothing}
        ${report
          ? html`<div class="answer">
              ${drawn > 2 ? verdict(view, report, actions) : nothing}
              ${drawn > 3 ? hull(view, report, actions) : nothing}
            </div>`
          : awaited
            ? html`<p class="loading" role="status">${say("load.models")}</p>`
            : nothing}
      </div>
      ${report && view.rest ? html`<div class="rest answer"></div>` : nothing}
    </main>
    <p class="visually-hidden" role="status" aria-live="polite">${announcement}</p>
    ${ribbon(view, verdictInSight)}
    <footer>
      ${view.rest?.preferences(view, language(), actions)}
      <p>
        ${say("footer.local", { version: view.core.version })}
        ${view.offline ? html`<span class="offline">${say("offline.ready")}</span>` : nothing}
      </p>
      <p class="print-only">${globalThis.location?.href}</p>
    </footer>
  `;
}
