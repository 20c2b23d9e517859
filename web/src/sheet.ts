// On a narrow page the form is a sheet over the answer. The sentence that says the request opens it; its button or Escape closes it.
import { html, type TemplateResult } from "lit";
import { effective, inputId } from "./inputs.ts";
import { methodName } from "./method-field.ts";
import { BATCH, COUNT, LENGTH, methodOf } from "./own.ts";
import { figure } from "./format.ts";
import { get, plain } from "./pointer.ts";
import type { Actions, View } from "./view.ts";
import { say } from "./words/say.ts";

const narrow = () => window.matchMedia("(max-width: 859px)").matches;

/** `pointer`: whose input has the focus. */
export function showForm(open: boolean, pointer = "/model"): void {
  const root = document.documentElement;
  const side = document.querySelector(".side");
  if (!side || (open && !narrow()) || root.hasAttribute("data-sheet") === open) return;
  root.toggleAttribute("data-sheet", open);
  for (const other of document.querySelectorAll(".masthead, main > :not(.side), footer, body > nav")) {
    other.toggleAttribute("inert", open);
  }
  for (const [name, value] of [
    ["role", "dialog"],
    ["aria-modal", "true"],
    ["aria-label", say("form.label")],
  ] as const) {
    if (open) side.setAttribute(name, value);
    else side.removeAttribute(name);
  }
  document.querySelector<HTMLElement>(open ? `#${inputId(pointer)}` : ".sentence")?.focus();
}

/** "QLoRA, NF4 of Llama-3.1-8B on GeForce RTX 4090 24GB, batch 1 x 4,096" */
export function sentence(view: View, actions: Actions): TemplateResult {
  const said = (pointer: string) => {
    const value = effective(view, pointer);
    return value === undefined ? "?" : typeof value === "number" ? figure(value) : plain(value);
  };
  const model = get(view.request, "/model");
  const id = get(view.request, "/hardware/gpu");
  const count = get(view.request, COUNT);
  const gpu = view.core.gpus.find((each) => each.id === id)?.name ?? "?";
  const method = methodOf(view.core.methods, view.request);
  const packed = plain(get(view.request, "/quantization/quant_method") ?? "?").toUpperCase();
  return html`<button type="button" class="sentence narrow-only" @click=${() => actions.openForm()}>
    ${say("sentence.run", {
      method: method ? methodName(method, view) : packed,
      model:
        typeof model === "string" ? model.replace(/^.*\//, "") : model === undefined ? "?" : say("model.own"),
      gpu: typeof count === "number" && count > 1 ? `${count} \u00d7 ${gpu}` : gpu,
      batch: said(BATCH),
      length: said(LENGTH),
    })}
    <b>${say("sentence.change")}</b>
  </button>`;
}

export const sheetHead = (): TemplateResult =>
  html`<p class="sheet-head narrow-only">
    <b>${say("form.label")}</b>
    <button type="button" class="apply" @click=${() => showForm(false)}>${say("sentence.done")}</button>
  </p>`;
