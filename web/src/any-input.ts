// An input for any field of the contract, from what the core declares of it: its type, its words, its sentence.
//
//     anyInput(view.core.fields.get("/peft/modules_to_save")!, view, actions)
//
// An empty input leaves the field to the core.
import { html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import type { FieldInfo, Json } from "./contract.ts";
import { asText, complaints, describedBy, effective, inputId, invalid } from "./inputs.ts";
import { dotted, get, isObject } from "./pointer.ts";
import { readNumber } from "./read-number.ts";
import type { Actions, View } from "./view.ts";
import { coreWords } from "./words/core-words.ts";
import { say } from "./words/say.ts";

/** How a value of a type is written in one line, and read again. */
interface Line {
  write(value: Json | undefined): string;
  read(text: string, pointer: string, type: string): Json | undefined;
}

const words = (text: string) => text.split(/[\s,]+/).filter((word) => word !== "");
const list = (value: Json | undefined) =>
  Array.isArray(value) ? value.map(asText).join(", ") : asText(value);

const LINES: Record<string, Line> = {
  text: { write: asText, read: (text) => text.trim() || undefined },
  texts: { write: list, read: (text) => (words(text).length > 0 ? words(text) : undefined) },
  // A regular expression over names is one word with signs in it; "all-linear" is one without.
  texts_or_text: {
    write: list,
    read: (text) => {
      const found = words(text);
      if (found.length === 1 && /[*+?|\\^$()]|^all-linear$/.test(found[0] ?? "")) return found[0];
      return found.length > 0 ? found : undefined;
    },
  },
  text_map: {
    write: (value) =>
      isObject(value)
        ? Object.entries(value)
            .map(([key, each]) => `${key}=${asText(each)}`)
            .join(", ")
        : asText(value),
    read: (text) => {
      const pairs = words(text).map((word) => word.split("=", 2) as [string, string?]);
      if (pairs.some(([, value]) => value === undefined)) return text.trim();
      return pairs.length > 0 ? Object.fromEntries(pairs as [string, string][]) : undefined;
    },
  },
};
const NUMBER: Line = { write: asText, read: readNumber };

function oneOf(info: FieldInfo, options: [Json, string][], view: View, actions: Actions): TemplateResult {
  const { pointer } = info;
  const own = get(view.request, pointer);
  const assumed = own === undefined ? effective(view, pointer) : undefined;
  const index = options.findIndex(([value]) => value === own);
  const unset =
    assumed === undefined ? say("form.not_set") : say("every.assumed", { value: asText(assumed) });
  return html`<select
    id=${inputId(pointer)}
    .value=${live(String(index))}
    aria-invalid=${invalid(view, pointer)}
    aria-describedby=${describedBy(view, pointer, true)}
    @change=${(event: Event) => {
      const chosen = options[Number((event.target as HTMLSelectElement).value)];
      actions.edit([{ pointer, value: chosen?.[0] }], "step");
    }}
  >
    <option value="-1" ?selected=${index < 0}>${own !== undefined && index < 0 ? asText(own) : unset}</option>
    ${options.map(([, name], at) => html`<option value=${at} ?selected=${at === index}>${name}</option>`)}
  </select>`;
}

/** Not "live": what is half typed stays when an answer comes meanwhile. */
function line(info: FieldInfo, view: View, actions: Actions): TemplateResult {
  const { pointer, type } = info;
  const { write, read } = LINES[type] ?? NUMBER;
  return html`<input
    id=${inputId(pointer)}
    type="text"
    autocomplete="off"
    autocapitalize="off"
    spellcheck="false"
    .value=${write(get(view.request, pointer))}
    placeholder=${write(effective(view, pointer))}
    aria-invalid=${invalid(view, pointer)}
    aria-describedby=${describedBy(view, pointer, true)}
    @change=${(event: Event) =>
      actions.edit(
        [{ pointer, value: read((event.target as HTMLInputElement).value, pointer, type) }],
        "step",
      )}
  />`;
}

export function anyInput(info: FieldInfo, view: View, actions: Actions): TemplateResult {
  const { pointer, type, allowed, what } = info;
  const id = inputId(pointer);
  const input =
    type === "flag"
      ? oneOf(
          info,
          [
            [true, say("chip.on")],
            [false, say("form.off")],
          ],
          view,
          actions,
        )
      : type === "word" && allowed !== ""
        ? oneOf(
            info,
            allowed.split(", ").map((word): [Json, string] => [word, word]),
            view,
            actions,
          )
        : line(info, view, actions);
  return html`<div class="field">
    <label for=${id}><code>${dotted(pointer)}</code></label>
    ${input} ${view.rest?.lock([pointer], dotted(pointer), view, actions) ?? nothing}
    <p class="help" id="${id}-help">${coreWords(`help${pointer}`, what)}</p>
    ${complaints(view, pointer)}
  </div>`;
}
