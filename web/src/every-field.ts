// Every setting that the core knows and no other input of the form shows: those that the request states, and any other that is
// looked for. So nothing that a file, a link or an example can hold has to be written as JSON.
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { anyInput } from "./any-input.ts";
import type { FieldInfo } from "./contract.ts";
import { ALL_FIELDS } from "./fields.ts";
import { find } from "./find.ts";
import { dotted, get } from "./pointer.ts";
import { topic } from "./topic.ts";
import { laterFields } from "./topics.ts";
import type { Actions, View } from "./view.ts";
import { say } from "./words/say.ts";

/** Inputs of the form that are made of more than one value. */
const OWN = [
  "/model",
  "/peft/target_modules",
  "/training/bf16",
  "/training/fp16",
  "/hardware/gpu",
  "/quantization/load_in_4bit",
  "/quantization/load_in_8bit",
];
/** Of the request itself, not of the run. */
const NOT_THE_RUN = ["/schema", "/want"];

const SHOWN = 12;

/** Where else the form shows a field now: it may be hidden because of what was chosen, and is shown here then. */
function elsewhere(view: View): Set<string> {
  const first = ALL_FIELDS.filter((one) => !one.when || one.when(view));
  return new Set([...first, ...laterFields(view)].map(({ pointer }) => pointer).concat(OWN, NOT_THE_RUN));
}

@customElement("plimsoll-every-field")
export class PlimsollEveryField extends LitElement {
  @property({ attribute: false }) view!: View;
  @property({ attribute: false }) actions!: Actions;
  @state() private text = "";
  /** What has been looked for stays where it is when it is set, until something else is looked for. */
  @state() private found: FieldInfo[] = [];

  protected override createRenderRoot(): this {
    return this;
  }

  private look(text: string): void {
    this.text = text;
    const all = [...this.view.core.fields.values()].filter(({ pointer }) => !NOT_THE_RUN.includes(pointer));
    const names = all.map(({ pointer, what }) => ({
      value: pointer,
      name: dotted(pointer),
      detail: "",
      words: `${dotted(pointer).replaceAll("_", " ")} ${what}`,
    }));
    const wanted = text.trim() === "" ? [] : find(names, text.replaceAll("_", " "));
    this.found = wanted.flatMap(({ value }) => all.find(({ pointer }) => pointer === value) ?? []);
  }

  protected override render(): TemplateResult | typeof nothing {
    const { view, actions } = this;
    const shown = elsewhere(view);
    const free = [...view.core.fields.values()].filter(({ pointer }) => !shown.has(pointer));
    const hits = this.found.filter(({ pointer }) => !shown.has(pointer));
    const near = hits.slice(0, SHOWN);
    const set = free.filter(({ pointer }) => get(view.request, pointer) !== undefined);
    const names = set.map(({ pointer }) => dotted(pointer).replace(/^.*\./, ""));
    const rows = (fields: FieldInfo[]) =>
      repeat(
        fields,
        ({ pointer }) => pointer,
        (one) => anyInput(one, view, actions),
      );
    return topic(
      say("form.every"),
      names,
      free.map(({ pointer }) => pointer),
      view,
      html`${rows(set.filter((one) => !near.includes(one)))}
        <div class="field">
          <label for="every-search">${say("every.search", { count: view.core.fields.size })}</label>
          <input
            id="every-search"
            type="text"
            autocomplete="off"
            autocapitalize="off"
            spellcheck="false"
            placeholder="lora_alpha, save_total_limit, ..."
            .value=${this.text}
            @input=${(event: InputEvent) => this.look((event.target as HTMLInputElement).value)}
          />
        </div>
        ${rows(near)}
        ${this.text.trim() !== "" && hits.length === 0
          ? html`<p class="help">
              ${say(this.found.length > 0 ? "every.above" : "every.none", {
                field: dotted(this.found[0]?.pointer ?? ""),
              })}
            </p>`
          : nothing}
        ${hits.length > SHOWN
          ? html`<p class="help">${say("options.more", { count: hits.length - SHOWN })}</p>`
          : nothing}`,
    );
  }
}
