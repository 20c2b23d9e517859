// The request as a form, and which part of it a message belongs to.
import { html, nothing, type TemplateResult } from "lit";
import { ALL_FIELDS, hasAdapters, MEASURES, SAMPLES, TOPICS, type Field } from "./fields.ts";
import { gpuField } from "./gpu-field.ts";
import { asText, complaints, field, inputId } from "./inputs.ts";
import { methodFields } from "./method-field.ts";
import { modelField } from "./model-field.ts";
import { get } from "./pointer.ts";
import { stated, topic } from "./topic.ts";
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

/** The element that a message about `pointer` is shown at: its own input, that of what it is in, or the text. */
export function elementFor(pointer: string): string {
  if (pointer === "/training/fp16") return inputId("/training/bf16");
  if (pointer.startsWith("/quantization") && !document.getElementById(inputId(pointer)))
    return inputId("/peft");
  for (let at = pointer; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) {
    if (document.getElementById(inputId(at))) return inputId(at);
  }
  return "request-text";
}

// Folds: what is in them comes with the rest of the page (folds.ts, topics.ts); folded, it is not worth a moment of the first
// answer

/** Of an expression over module names, in the head of a fold; the field in it has the whole. */
const PATTERN_SHOWN = 24;

function targets(view: View): string {
  const value = get(view.request, "/peft/target_modules");
  if (Array.isArray(value)) return value.map((name) => asText(name).replace(/_proj$/, "")).join(" ");
  const text = asText(value);
  return text.length > PATTERN_SHOWN ? `${text.slice(0, PATTERN_SHOWN)}…` : text;
}

function autocast(view: View): string {
  if (get(view.request, "/training/fp16") === true) return "fp16";
  return get(view.request, "/training/bf16") === true ? "bf16" : "";
}

export function form(view: View, actions: Actions): TemplateResult {
  const leftOver = view.errors.filter((error) => !hasOwnInput(error.pointer));
  const each = (fields: Field[]) => html`${fields.map((one) => field(one, view, actions))}`;
  const fold = (name: keyof typeof TOPICS, settings: string[] = [], pointers: string[] = []) => {
    const fields: Field[] = TOPICS[name];
    return topic(
      say(`form.${name}`),
      [...fields.map((one) => stated(one, view)), ...settings],
      [...fields.map((one) => one.pointer), ...pointers],
      view,
      view.rest?.folds[name](view, actions),
    );
  };
  return html`
    <form class="request" aria-label=${say("form.label")} @submit=${(event: Event) => event.preventDefault()}>
      ${modelField(view, actions)} ${gpuField(view, actions)} ${methodFields(view, leftOver, actions)}
      <div class="two">${SAMPLES.map((one) => field(one, view, actions, false))}</div>
      ${SAMPLES.map((one) => complaints(view, one.pointer))} ${each(MEASURES)}
      <div class="topics">
        ${hasAdapters(view) ? fold("adapters", [targets(view)], ["/peft/target_modules"]) : nothing}
        ${fold("precision", [autocast(view)], ["/training/bf16", "/training/fp16"])} ${fold("step")}
        ${fold("around")} ${fold("data")} ${view.rest?.topics(view, actions)}
      </div>
    </form>
  `;
}
