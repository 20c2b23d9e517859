// The box itself: a text, and files.
import { html, type TemplateResult } from "lit";
import { say } from "../words/say.ts";

export interface Area {
  /** The next input is pasted. */
  pastes(): void;
  input(text: string): void;
  files(files: File[]): void;
}

export const area = (text: string, takes: Area): TemplateResult =>
  html`<div class="field">
    <label for="paste-text">${say("paste.title")}</label>
    <textarea
      id="paste-text"
      rows="3"
      spellcheck="false"
      autocapitalize="off"
      placeholder=${say("paste.placeholder")}
      aria-describedby="paste-help"
      .value=${text}
      @paste=${() => takes.pastes()}
      @input=${(event: InputEvent) => takes.input((event.target as HTMLTextAreaElement).value)}
    ></textarea>
    <p class="help" id="paste-help">
      ${say("paste.help")}
      <label class="pick"
        >${say("paste.pick")}
        <input
          type="file"
          multiple
          accept=".yaml,.yml,.json,.py,.sh,.txt,.log,.ipynb"
          @change=${(event: Event) => {
            takes.files([...((event.target as HTMLInputElement).files ?? [])]);
          }}
      /></label>
    </p>
  </div>`;
