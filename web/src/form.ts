// The request as a form, and which part of it a message belongs to.
import { html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import { ALL_FIELDS, BATCH, choices, hasAdapters, MEASURES, TOPICS, type Field } from "./fields.ts";
import { gpuField } from "./gpu-field.ts";
import { asText, complaints, errorsAt, field, inputId } from "./inputs.ts";
import { methodFields } from "./method-field.ts";
import { modelField } from "./model-field.ts";
import { get } from "./pointer.ts";
import type { Actions, View } from "./view.ts";
import { say } from "./words/say.ts";

const OWN_INPUT = new Set([
  "/model",
  "/peft/target_modules",
  "/training/bf16",
  "/training/fp16",
  "/hardware/gpu",
  ...ALL_FIELDS.map((each) => each.pointer),
]);
const hasOwnInput = (pointer: string) =>
  [...OWN_INPUT].some((own) => pointer === own || pointer.startsWith(`${own}/`));

/** The element that a message about `pointer` is shown at. */
export function elementFor(pointer: string): string {
  if (pointer === "/training/fp16") return inputId("/training/bf16");
  for (const own of OWN_INPUT) {
    if ((pointer === own || pointer.startsWith(`${own}/`)) && document.getElementById(inputId(own))) {
      return inputId(own);
    }
  }
  return /^\/(peft|quantization)(\/|$)/.test(pointer) ? inputId("/peft") : "request-text";
}

// Folds: the inputs that most people leave alone, with what is set in them said in the heading

/** "rank 16": what the request itself says of a field; nothing where it leaves the field to the core. */
function stated(one: Field, view: View): string {
  const value = get(view.request, one.pointer);
  if (value === undefined || (one.when && !one.when(view.request))) return "";
  if (one.kind === "flag") return value === true ? say(one.label) : `${say(one.label)}: ${say("form.off")}`;
  if (one.kind === "number") return `${say(one.label)} ${asText(value)}`;
  return choices(one, view.core).find(([id]) => id === value)?.[1] ?? asText(value);
}

function targets(view: View): string {
  const value = get(view.request, "/peft/target_modules");
  return Array.isArray(value)
    ? value.map((name) => asText(name).replace(/_proj$/, "")).join(" ")
    : asText(value);
}

function autocast(view: View): string {
  if (get(view.request, "/training/fp16") === true) return "fp16";
  return get(view.request, "/training/bf16") === true ? "bf16" : "";
}

/** Its inputs come with the rest of the page (folds.ts): folded, they are not worth a moment of the first answer. */
function topic(
  name: keyof typeof TOPICS,
  settings: string[],
  pointers: string[],
  view: View,
  actions: Actions,
): TemplateResult {
  const said = settings.filter((setting) => setting !== "");
  return html`<details class="more">
    <summary>
      ${say(`form.${name}`)}
      ${errorsAt(view, pointers).length > 0
        ? html`<span class="complaint">${say("form.problem")}</span>`
        : said.length > 0
          ? html`<span class="stated">${said.join(", ")}</span>`
          : nothing}
    </summary>
    <div class="inputs">${view.rest ? view.rest.folds[name](view, actions) : nothing}</div>
  </details>`;
}

export function form(view: View, actions: Actions): TemplateResult {
  const leftOver = view.errors.filter((error) => !hasOwnInput(error.pointer));
  const each = (fields: Field[]) => html`${fields.map((one) => field(one, view, actions))}`;
  const fold = (name: keyof typeof TOPICS, settings: string[] = [], pointers: string[] = []) => {
    const fields: Field[] = TOPICS[name];
    return topic(
      name,
      [...fields.map((one) => stated(one, view)), ...settings],
      [...fields.map((one) => one.pointer), ...pointers],
      view,
      actions,
    );
  };
  return html`
    <form class="request" aria-label=${say("form.label")} @submit=${(event: Event) => event.preventDefault()}>
      ${modelField(view, actions)} ${gpuField(view, actions)} ${methodFields(view, leftOver, actions)}
      <div class="two">${BATCH.map((one) => field(one, view, actions, false))}</div>
      ${BATCH.map((one) => complaints(view, one.pointer))} ${each(MEASURES)}
      <div class="topics">
        ${hasAdapters(view.request) ? fold("adapters", [targets(view)], ["/peft/target_modules"]) : nothing}
        ${fold("precision", [autocast(view)], ["/training/bf16", "/training/fp16"])} ${fold("step")}
        ${fold("around")} ${fold("data")}
        <details class="more">
          <summary>${say("form.json")}</summary>
          <div class="field">
            <label for="request-text">${say("form.request")}</label>
            <textarea
              id="request-text"
              rows="16"
              spellcheck="false"
              autocapitalize="off"
              aria-describedby="request-text-help"
              .value=${live(view.draft ?? JSON.stringify(view.request, null, 2))}
              @input=${(event: InputEvent) => actions.editText((event.target as HTMLTextAreaElement).value)}
            ></textarea>
            <p class="help" id="request-text-help">${say("form.request_help")}</p>
          </div>
        </details>
      </div>
    </form>
  `;
}
