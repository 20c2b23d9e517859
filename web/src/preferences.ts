// How the page looks and speaks, and the newer version that may be waiting.
import { html, nothing, type TemplateResult } from "lit";
import { asUnit, UNIT_NAMES, unit } from "./format.ts";
import { asTheme } from "./theme.ts";
import type { Actions, View } from "./view.ts";
import { LANGUAGES, say } from "./words/say.ts";

export function preferences(view: View, language: string, actions: Actions): TemplateResult {
  return html`<div class="preferences">
    <div class="field">
      <label for="theme">${say("preferences.theme")}</label>
      <select
        id="theme"
        @change=${(event: Event) => actions.wearTheme(asTheme((event.target as HTMLSelectElement).value))}
      >
        ${(["system", "light", "dark"] as const).map(
          (theme) =>
            html`<option value=${theme} ?selected=${theme === view.theme}>
              ${say(`preferences.${theme}`)}
            </option>`,
        )}
      </select>
    </div>
    <div class="field">
      <label for="language">${say("preferences.language")}</label>
      <select
        id="language"
        @change=${(event: Event) => actions.speakLanguage((event.target as HTMLSelectElement).value)}
      >
        ${Object.entries(LANGUAGES).map(
          ([id, { name }]) =>
            html`<option value=${id} lang=${id} ?selected=${id === language}>${name}</option>`,
        )}
      </select>
    </div>
    <div class="field">
      <label for="unit">${say("preferences.unit")}</label>
      <select
        id="unit"
        @change=${(event: Event) => actions.measureIn(asUnit((event.target as HTMLSelectElement).value))}
      >
        ${UNIT_NAMES.map((each) => html`<option ?selected=${each === unit()}>${each}</option>`)}
      </select>
    </div>
  </div>`;
}

export function updateNotice(view: View, actions: Actions): TemplateResult | typeof nothing {
  if (!view.update) return nothing;
  return html`<p class="message update" role="status">
    ${say("update.ready")}
    <button type="button" @click=${view.update}>${say("update.use")}</button>
    <button type="button" class="quiet" @click=${() => actions.look({ update: undefined })}>
      ${say("update.later")}
    </button>
  </p>`;
}
