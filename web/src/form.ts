// The request as a form, and which part of it a message belongs to.
import { html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import {
  ALL_FIELDS,
  BATCH,
  choices,
  hasAdapters,
  MEASURES,
  TOPICS,
  WEIGHT_TYPE,
  type Field,
} from "./fields.ts";
import { gpuField } from "./gpu-field.ts";
import { asText, complaints, describedBy, effective, errorsAt, field, inputId, invalid } from "./inputs.ts";
import { adapterFields, methodFields } from "./method-field.ts";
import { modelField } from "./model-field.ts";
import { get } from "./pointer.ts";
import type { Actions, View } from "./view.ts";
import { say, type Word } from "./words/say.ts";

// Autocast: two flags that exclude each other

function autocastField(view: View, actions: Actions): TemplateResult {
  const on = (kind: string) => effective(view, `/training/${kind}`) === true;
  const value = on("bf16") ? "bf16" : on("fp16") ? "fp16" : "none";
  const id = inputId("/training/bf16");
  return html`<div class="field">
    <label for=${id}>${say("form.autocast")}</label>
    <select
      id=${id}
      .value=${live(value)}
      aria-invalid=${invalid(view, "/training/bf16")}
      aria-describedby=${describedBy(view, "/training/bf16")}
      @change=${(event: Event) => {
        const chosen = (event.target as HTMLSelectElement).value;
        actions.edit(
          ["bf16", "fp16"].map((kind) => ({
            pointer: `/training/${kind}`,
            value: kind === chosen ? true : undefined,
          })),
          "step",
        );
      }}
    >
      <option value="none" ?selected=${value === "none"}>${say("form.off")}</option>
      <option value="bf16" ?selected=${value === "bf16"}>bf16</option>
      <option value="fp16" ?selected=${value === "fp16"}>fp16</option>
    </select>
    ${complaints(view, "/training/bf16", ["/training/fp16"])}
  </div>`;
}

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

/** Its inputs are drawn with the rest of the page: folded, they are not worth a moment of the first answer. */
function topic(
  title: Word,
  settings: string[],
  inputs: () => TemplateResult | typeof nothing,
  pointers: string[],
  view: View,
): TemplateResult {
  const said = settings.filter((setting) => setting !== "");
  return html`<details class="more">
    <summary>
      ${say(title)}
      ${errorsAt(view, pointers).length > 0
        ? html`<span class="complaint">${say("form.problem")}</span>`
        : said.length > 0
          ? html`<span class="stated">${said.join(", ")}</span>`
          : nothing}
    </summary>
    <div class="inputs">${view.rest ? inputs() : nothing}</div>
  </details>`;
}

export function form(view: View, actions: Actions): TemplateResult {
  const leftOver = view.errors.filter((error) => !hasOwnInput(error.pointer));
  const each = (fields: Field[]) => html`${fields.map((one) => field(one, view, actions))}`;
  const all = (fields: Field[]) => fields.map((one) => stated(one, view));
  const pointers = (fields: Field[]) => fields.map((one) => one.pointer);
  return html`
    <form class="request" aria-label=${say("form.label")} @submit=${(event: Event) => event.preventDefault()}>
      ${modelField(view, actions)} ${gpuField(view, actions)} ${methodFields(view, leftOver, actions)}
      <div class="two">${BATCH.map((one) => field(one, view, actions, false))}</div>
      ${BATCH.map((one) => complaints(view, one.pointer))} ${each(MEASURES)}
      <div class="topics">
        ${hasAdapters(view.request)
          ? topic(
              "form.adapters",
              [...all(TOPICS.adapters), targets(view)],
              () => adapterFields(view, actions),
              [...pointers(TOPICS.adapters), "/peft/target_modules"],
              view,
            )
          : nothing}
        ${topic(
          "form.precision",
          [...all(TOPICS.precision), autocast(view)],
          () =>
            html`<div class="two">${field(WEIGHT_TYPE, view, actions)} ${autocastField(view, actions)}</div>
              ${each(TOPICS.precision.filter((one) => one !== WEIGHT_TYPE))}`,
          [...pointers(TOPICS.precision), "/training/bf16", "/training/fp16"],
          view,
        )}
        ${topic("form.step", all(TOPICS.step), () => each(TOPICS.step), pointers(TOPICS.step), view)}
        ${topic("form.around", all(TOPICS.around), () => each(TOPICS.around), pointers(TOPICS.around), view)}
        ${topic(
          "form.data",
          all(TOPICS.data),
          () => html`<div class="two">${TOPICS.data.map((one) => field(one, view, actions))}</div>`,
          pointers(TOPICS.data),
          view,
        )}
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
