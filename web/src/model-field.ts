// The model: any of the presets by id or Hugging Face id, found by typing; what a name was read as is said below it.
import { html, type TemplateResult } from "lit";
import type { Json } from "./contract.ts";
import { parameters } from "./format.ts";
import { asText, complaints, inputId, searched } from "./inputs.ts";
import { get, isObject } from "./pointer.ts";
import type { Actions, View } from "./view.ts";
import { say } from "./words/say.ts";

const modelName = (value: Json | undefined): string =>
  isObject(value) ? (typeof value["name"] === "string" ? value["name"] : say("model.own")) : asText(value);

function about(view: View, value: Json | undefined): string {
  const { report, core } = view;
  if (isObject(value)) return say("model.config");
  // While an answer is awaited, the last one is to the same model.
  if (!report) return say("model.search", { count: core.models.length });
  const size = parameters(report.model.parameters);
  const model = core.models.find(({ id }) => id === report.model.id);
  if (!model || value === model.hf_id) return say("model.size", { size });
  return say(value === model.id ? "model.option" : "model.same", { id: model.hf_id, size });
}

export function modelField(view: View, actions: Actions): TemplateResult {
  const pointer = "/model";
  const value = get(view.request, pointer);
  return html`<div class="field">
    <label for=${inputId(pointer)}>${say("model.label")}</label>
    ${searched(
      {
        pointer,
        shown: modelName(value),
        placeholder: "",
        helped: true,
        entries: (all) => all.models(view.core),
      },
      view,
      actions,
    )}
    ${view.rest?.lock([pointer], say("model.label"), view, actions)}
    <p class="help" id="${inputId(pointer)}-help">${about(view, value)}</p>
    ${complaints(view, pointer)}
  </div>`;
}
