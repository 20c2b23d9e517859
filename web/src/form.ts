// The request as a form, and which part of it a message belongs to.
import { html, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import { ALL_FIELDS, BATCH, MEASURES, MORE, WEIGHT_TYPE, type Field } from "./fields.ts";
import { gpuField } from "./gpu-field.ts";
import { complaints, describedBy, effective, field, inputId, invalid } from "./inputs.ts";
import { methodFields } from "./method-field.ts";
import { modelField } from "./model-field.ts";
import type { Actions, View } from "./view.ts";
import { say } from "./words/say.ts";

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

export function form(view: View, actions: Actions): TemplateResult {
  const leftOver = view.errors.filter((error) => !hasOwnInput(error.pointer));
  const each = (fields: Field[]) => fields.map((one) => field(one, view, actions));
  return html`
    <form class="request" aria-label=${say("form.label")} @submit=${(event: Event) => event.preventDefault()}>
      ${modelField(view, actions)} ${gpuField(view, actions)} ${methodFields(view, leftOver, actions)}
      <fieldset>
        <legend>${say("form.batch")}</legend>
        <div class="three">${BATCH.map((one) => field(one, view, actions, false))}</div>
        ${BATCH.map((one) => complaints(view, one.pointer))}
      </fieldset>
      <fieldset>
        <legend>${say("form.measures")}</legend>
        ${each(MEASURES)}
      </fieldset>
      <fieldset>
        <legend>${say("form.precision")}</legend>
        <div class="two">${field(WEIGHT_TYPE, view, actions)} ${autocastField(view, actions)}</div>
      </fieldset>
      <details class="more">
        <summary>${say("form.more")}</summary>
        ${each(MORE)}
      </details>
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
    </form>
  `;
}
