// The GPU, found by typing, with what a program can use of it; and how many.
import { html, nothing, type TemplateResult } from "lit";
import { sizeWords } from "./format.ts";
import { cardCalled, CARDS, STRATEGY } from "./fields.ts";
import { asText, complaints, field, inputId, searched } from "./inputs.ts";
import { COUNT } from "./own.ts";
import { get } from "./pointer.ts";
import type { Actions, View } from "./view.ts";
import { say } from "./words/say.ts";

/** Of a card's name where the count belongs: the card. */
function noCount(view: View, actions: Actions): TemplateResult | typeof nothing {
  const typed = view.typed.get(COUNT)?.trim() ?? "";
  const card = get(view.request, COUNT) === undefined ? cardCalled(view.core, typed) : undefined;
  if (!card) return nothing;
  const edits = [{ pointer: "/hardware/gpu", value: card.id }];
  return html`<p class="complaint" id="${inputId(COUNT)}-error">
    ${say("gpu.no_count", { text: typed })}
    <button type="button" class="repair" @click=${() => actions.edit(edits, "step", [COUNT, ""])}>
      ${card.name}
    </button>
  </p>`;
}

export function gpuField(view: View, actions: Actions): TemplateResult {
  const pointer = "/hardware/gpu";
  const value = asText(get(view.request, pointer));
  const known = view.core.gpus.find((gpu) => gpu.id === value);
  const several = Number(get(view.request, COUNT) ?? 1) > 1;
  return html`<div class="field">
      <div class="count-and-gpu">
        ${field(CARDS, view, actions, false)}
        <div class="field">
          <label for=${inputId(pointer)}>GPU</label>
          ${searched(
            {
              pointer,
              shown: known?.name ?? value,
              placeholder: say("gpu.none"),
              helped: true,
              entries: (entries) => entries.gpus(view.core),
            },
            view,
            actions,
          )}
        </div>
      </div>
      <p class="help" id="${inputId(pointer)}-help">
        ${known ? say("gpu.usable", { size: sizeWords(known.usable_bytes) }) : nothing}
      </p>
      ${complaints(view, pointer)} ${complaints(view, COUNT)} ${noCount(view, actions)}
    </div>
    ${several || get(view.request, STRATEGY.pointer) !== undefined ? field(STRATEGY, view, actions) : nothing}`;
}
