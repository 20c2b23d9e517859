// Inputs for the fields that hold one plain value. Every input writes into the request as it stands, valid or not: the
// core is the one that says what is wrong, and it is said at the input.
import { html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import type { CoreError, Json } from "./contract.ts";
import { choices, type Field } from "./fields.ts";
import type { Entry } from "./find.ts";
import { complaint } from "./messages.ts";
import { COUNT } from "./own.ts";
import { get } from "./pointer.ts";
import { readNumber } from "./read-number.ts";
import type { Rest } from "./rest.ts";
import type { Actions, View } from "./view.ts";
import { coreWords } from "./words/core-words.ts";
import { say } from "./words/say.ts";

export const inputId = (pointer: string) => `field${pointer.replaceAll("/", "-")}`;

/** What an input shows for a field that the request leaves open: what the core assumed in its last answer. */
const assumed = (view: View, pointer: string): Json | undefined =>
  view.report?.assumptions.find((assumption) => assumption.pointer === pointer)?.value;

export const effective = (view: View, pointer: string): Json | undefined =>
  get(view.request, pointer) ?? assumed(view, pointer);

export const asText = (value: Json | undefined): string =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);

export const errorsAt = (view: View, pointers: string[]): CoreError[] =>
  view.errors.filter((error) =>
    pointers.some((pointer) => error.pointer === pointer || error.pointer.startsWith(`${pointer}/`)),
  );

export function complaints(
  view: View,
  pointer: string,
  also: string[] = [],
): TemplateResult | typeof nothing {
  const errors = errorsAt(view, [pointer, ...also]);
  if (errors.length === 0) return nothing;
  return html`<p class="complaint" id="${inputId(pointer)}-error">
    ${errors.map((error) => html`${complaint(error)} `)}
  </p>`;
}

export const describedBy = (view: View, pointer: string, explained = false) =>
  [
    explained ? `${inputId(pointer)}-help` : "",
    errorsAt(view, [pointer]).length > 0 ? `${inputId(pointer)}-error` : "",
  ]
    .filter((id) => id !== "")
    .join(" ") || nothing;

export const invalid = (view: View, pointer: string) =>
  errorsAt(view, [pointer]).length > 0 ? "true" : nothing;

function numberInput(field: Field & { kind: "number" }, view: View, actions: Actions): TemplateResult {
  const { pointer } = field;
  const type = view.core.fields.get(pointer)?.type;
  const read = (text: string) =>
    field.reads ? field.reads(text, view.core) : readNumber(text, pointer, type);
  const own = get(view.request, pointer);
  const typed = view.typed.get(pointer);
  const shown = typed !== undefined && read(typed) === own ? typed : asText(own);
  const change = (text: string) => actions.edit([{ pointer, value: read(text) }], "tweak", [pointer, text]);
  return html`<input
    id=${inputId(pointer)}
    type="text"
    inputmode="decimal"
    autocomplete="off"
    .value=${live(shown)}
    placeholder=${asText(assumed(view, pointer)) || field.usual || ""}
    aria-invalid=${invalid(view, pointer)}
    aria-describedby=${describedBy(view, pointer, field.explained)}
    @input=${(event: InputEvent) => change((event.target as HTMLInputElement).value)}
    @change=${() => {
      // "4k" was good enough to type; the number is what was meant.
      if (typeof own === "number" && shown !== asText(own)) change(asText(own));
    }}
    @keydown=${(event: KeyboardEvent) => {
      const direction = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
      const from = effective(view, pointer);
      if (direction === 0 || typeof from !== "number") return;
      event.preventDefault();
      // Multiples of the step, so that 500 goes to 512; never through zero.
      const next = (Math.floor(from / field.step) + direction) * field.step;
      const kept =
        direction < 0 && from % field.step !== 0 ? Math.floor(from / field.step) * field.step : next;
      if (kept > 0) change(String(Number(kept.toPrecision(12))));
    }}
  />`;
}

/** More choices than anybody reads are searched. */
const MANY = 12;

function choiceInput(field: Field & { kind: "choice" }, view: View, actions: Actions): TemplateResult {
  const { pointer } = field;
  const value = asText(effective(view, pointer));
  const options = choices(field, view.core);
  if (options.length > MANY) {
    const shown = options.find(([id]) => id === value)?.[1] ?? value;
    const one = { pointer, shown, placeholder: "", helped: field.explained === true };
    return searched({ ...one, entries: (all) => all.choices(field, view.core) }, view, actions);
  }
  const listed = options.some(([id]) => id === value);
  return html`<select
    id=${inputId(pointer)}
    .value=${live(value)}
    aria-invalid=${invalid(view, pointer)}
    aria-describedby=${describedBy(view, pointer, field.explained)}
    @change=${(event: Event) =>
      actions.edit([{ pointer, value: (event.target as HTMLSelectElement).value }], "step")}
  >
    ${listed ? nothing : html`<option value=${value} selected>${value || say("form.not_set")}</option>`}
    ${options.map(([id, label]) => html`<option value=${id} ?selected=${id === value}>${label}</option>`)}
  </select>`;
}

export interface Searched {
  pointer: string;
  /** What the input shows of the value. */
  shown: string;
  placeholder: string;
  helped: boolean;
  entries: (all: Rest["entries"]) => Entry[];
}

/** An input that finds what it is for by typing; its list comes with the rest of the page. */
export function searched(one: Searched, view: View, actions: Actions): TemplateResult {
  const { pointer, shown } = one;
  const { rest } = view;
  const id = inputId(pointer);
  const counts = pointer === "/hardware/gpu";
  const take = (value: string, count?: number) =>
    actions.edit(
      [
        { pointer, value: value === "" ? undefined : value },
        ...(count === undefined ? [] : [{ pointer: COUNT, value: count }]),
      ],
      "step",
    );
  const described = describedBy(view, pointer, one.helped);
  return html`<div class="combobox">
    <input
      id=${id}
      type="text"
      role="combobox"
      aria-autocomplete="list"
      aria-expanded="false"
      aria-controls="${id}-list"
      autocomplete="off"
      autocapitalize="off"
      spellcheck="false"
      placeholder=${one.placeholder}
      .value=${shown}
      aria-invalid=${invalid(view, pointer)}
      aria-describedby=${described}
      @focus=${(event: FocusEvent) => (event.target as HTMLInputElement).select()}
      @change=${(event: Event) => {
        const text = (event.target as HTMLInputElement).value.trim();
        if (text === shown) return;
        const { name, count } = rest && counts ? rest.counted(text) : { name: text };
        const match =
          rest && pointer !== "/model" ? rest.find(one.entries(rest.entries), name)[0] : undefined;
        if (text === "" || !match) take(text);
        else take(match.value, count);
      }}
    />
    ${rest ? rest.options(() => one.entries(rest.entries), counts, take) : nothing}
  </div>`;
}

/** `complain` false: the caller shows the complaints, where there is more room for them. */
export function field(
  field: Field,
  view: View,
  actions: Actions,
  complain = true,
): TemplateResult | typeof nothing {
  if (field.when && !field.when(view)) return nothing;
  const { pointer, label, explained } = field;
  const help = explained ? view.core.fields.get(pointer)?.what || undefined : undefined;
  const id = inputId(pointer);
  const hint = help
    ? html`<p class="help" id="${id}-help">${coreWords(`help${pointer}`, help)}</p>`
    : nothing;
  const lock = view.rest?.lock([pointer], say(label), view, actions) ?? nothing;
  if (field.kind === "flag") {
    return html`<div class="field flag">
      <input
        id=${id}
        type="checkbox"
        .checked=${live(effective(view, pointer) === true)}
        aria-invalid=${invalid(view, pointer)}
        aria-describedby=${describedBy(view, pointer, help !== undefined)}
        @change=${(event: Event) =>
          actions.edit([{ pointer, value: (event.target as HTMLInputElement).checked }], "step")}
      />
      <label for=${id}>${say(label)}</label>
      ${lock}${hint}${complaints(view, pointer)}
    </div>`;
  }
  return html`<div class="field">
    <label for=${id}>${say(label)}</label>
    ${field.kind === "number" ? numberInput(field, view, actions) : choiceInput(field, view, actions)}
    ${lock}${hint}${complain ? complaints(view, pointer) : nothing}
  </div>`;
}
