// The model: any of the presets by id or Hugging Face id, found by typing.
import { html, type TemplateResult } from "lit";
import type { Json, ModelPreset } from "./contract.ts";
import { parameters } from "./format.ts";
import { asText, complaints, errorsAt, inputId, invalid } from "./inputs.ts";
import { get, isObject } from "./pointer.ts";
import type { Actions, View } from "./view.ts";
import { language, say } from "./words/say.ts";

/** What the field offers, written when somebody comes to it: a thousand names that most visits never need. */
function offer(list: HTMLElement | null, models: ModelPreset[]): void {
  const now = `${language()} ${models.length}`;
  if (!list || list.dataset["offers"] === now) return;
  list.dataset["offers"] = now;
  const option = (value: string, text: string) => {
    const element = document.createElement("option");
    element.value = value;
    element.textContent = text;
    return element;
  };
  list.replaceChildren(
    ...models.flatMap((model) => [
      option(model.id, say("model.option", { id: model.hf_id, size: parameters(model.parameters) })),
      ...(model.aliases ?? []).map((alias) => option(alias, say("model.alias", { id: model.hf_id }))),
    ]),
  );
}

function findModel(models: ModelPreset[], text: string): ModelPreset | undefined {
  const wanted = text.trim().toLowerCase();
  return models.find((model) =>
    [model.id, model.hf_id, ...(model.aliases ?? [])].some((name) => name.toLowerCase() === wanted),
  );
}

function aboutModel(model: ModelPreset, named: Json | undefined): string {
  const size = parameters(model.parameters);
  if (named === model.hf_id) return say("model.option", { id: model.family, size });
  const sameShapes = typeof named === "string" && findModel([{ ...model, aliases: [] }], named) === undefined;
  return say(sameShapes ? "model.same" : "model.option", { id: model.hf_id, size });
}

function modelName(value: Json | undefined): string {
  if (isObject(value)) return typeof value["name"] === "string" ? value["name"] : say("model.own");
  return asText(value);
}

export function modelField(view: View, actions: Actions): TemplateResult {
  const pointer = "/model";
  const value = get(view.request, pointer);
  const known = typeof value === "string" ? findModel(view.core.models, value) : undefined;
  const choose = (text: string) => actions.edit([{ pointer, value: text.trim() }], "step");
  return html`<div class="field">
    <label for=${inputId(pointer)}>${say("model.label")}</label>
    <input
      id=${inputId(pointer)}
      type="text"
      list="models"
      autocomplete="off"
      autocapitalize="off"
      spellcheck="false"
      .value=${modelName(value)}
      aria-invalid=${invalid(view, pointer)}
      aria-describedby="${inputId(pointer)}-help ${errorsAt(view, [pointer]).length > 0
        ? `${inputId(pointer)}-error`
        : ""}"
      @focus=${(event: FocusEvent) => {
        const input = event.target as HTMLInputElement;
        input.select();
        offer(input.list, view.core.models);
      }}
      @input=${(event: InputEvent) => {
        const input = event.target as HTMLInputElement;
        if (document.activeElement === input) offer(input.list, view.core.models);
        // Half an id is not an error yet; a whole one counts at once.
        const text = input.value;
        if (text.trim() !== modelName(value) && findModel(view.core.models, text)) choose(text);
      }}
      @change=${(event: Event) => {
        const text = (event.target as HTMLInputElement).value;
        if (text.trim() !== modelName(value)) choose(text);
      }}
    />
    <datalist id="models"></datalist>
    <p class="help" id="${inputId(pointer)}-help">
      ${known
        ? aboutModel(known, value)
        : isObject(value)
          ? say("model.config")
          : say("model.search", { count: view.core.models.length })}
    </p>
    ${complaints(view, pointer)}
  </div>`;
}
