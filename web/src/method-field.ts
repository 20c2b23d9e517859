// The method: whether there are adapters, where, and in how many bits the base is held.
import { html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import type { CoreError, Json } from "./contract.ts";
import { hasAdapters, RANK, TOPICS } from "./fields.ts";
import { asText, complaints, describedBy, effective, field, inputId, invalid } from "./inputs.ts";
import { get, isObject } from "./pointer.ts";
import type { Actions, Edit, View } from "./view.ts";
import { say, type Word } from "./words/say.ts";

interface Method {
  id: string;
  label: Word;
  adapters: boolean;
  bits?: "load_in_4bit" | "load_in_8bit";
}

const METHODS: Method[] = [
  { id: "full", label: "method.full", adapters: false },
  { id: "lora", label: "method.lora", adapters: true },
  { id: "qlora", label: "method.qlora", adapters: true, bits: "load_in_4bit" },
  { id: "lora8", label: "method.lora8", adapters: true, bits: "load_in_8bit" },
];

const holds = (method: Method, view: View) =>
  method.adapters === hasAdapters(view.request) &&
  (["load_in_4bit", "load_in_8bit"] as const).every(
    (bits) => (get(view.request, `/quantization/${bits}`) === true) === (method.bits === bits),
  );

function chooseMethod(method: Method, view: View, actions: Actions): void {
  const edits: Edit[] = [];
  const peft = get(view.request, "/peft") ?? actions.shelved("peft");
  edits.push({
    pointer: "/peft",
    value: method.adapters
      ? isObject(peft)
        ? peft
        : { r: 16, lora_alpha: 32, target_modules: ["q_proj", "v_proj"] }
      : undefined,
  });
  const shelved = actions.shelved("quantization");
  const restored = isObject(shelved) && method.bits && shelved[method.bits] === true ? shelved : undefined;
  const fresh: Json =
    method.bits === "load_in_4bit"
      ? { load_in_4bit: true, bnb_4bit_quant_type: "nf4", bnb_4bit_use_double_quant: true }
      : { load_in_8bit: true };
  edits.push({ pointer: "/quantization", value: method.bits ? (restored ?? fresh) : undefined });
  actions.edit(edits, "step");
}

const TARGETS: [value: Json, label: Word][] = [
  [["q_proj", "v_proj"], "targets.qv"],
  [["q_proj", "k_proj", "v_proj", "o_proj"], "targets.attention"],
  [["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"], "targets.all"],
  ["all-linear", "targets.linear"],
];
const targetList = (value: Json | undefined) =>
  Array.isArray(value) ? [...value].map(asText).sort().join() : asText(value);

/** Where the adapters are and how large; nothing while there are none. */
export function adapterFields(view: View, actions: Actions): TemplateResult | typeof nothing {
  if (!hasAdapters(view.request)) return nothing;
  const pointer = "/peft/target_modules";
  const value = effective(view, pointer);
  const preset = TARGETS.findIndex(([targets]) => targetList(targets) === targetList(value));
  return html`
    <div class="rank-and-targets">
      ${field(RANK, view, actions)}
      <div class="field">
        <label for="targets-preset">${say("targets.label")}</label>
        <select
          id="targets-preset"
          .value=${live(String(preset))}
          @change=${(event: Event) => {
            const chosen = TARGETS[Number((event.target as HTMLSelectElement).value)];
            if (chosen) actions.edit([{ pointer, value: chosen[0] }], "step");
          }}
        >
          ${TARGETS.map(
            ([, label], index) =>
              html`<option value=${index} ?selected=${index === preset}>${say(label)}</option>`,
          )}
          <option value="-1" ?selected=${preset === -1}>${say("targets.listed")}</option>
        </select>
      </div>
    </div>
    <div class="field">
      <label for=${inputId(pointer)}>${say("targets.names")}</label>
      <input
        id=${inputId(pointer)}
        type="text"
        autocomplete="off"
        autocapitalize="off"
        spellcheck="false"
        .value=${Array.isArray(value) ? value.map(asText).join(", ") : asText(value)}
        aria-invalid=${invalid(view, pointer)}
        aria-describedby=${describedBy(view, pointer)}
        @change=${(event: Event) => {
          const names = (event.target as HTMLInputElement).value
            .split(/[\s,]+/)
            .filter((name) => name !== "");
          const [only] = names;
          const next = names.length === 1 && only === "all-linear" ? only : names;
          actions.edit([{ pointer, value: names.length > 0 ? next : undefined }], "step");
        }}
      />
      ${complaints(view, pointer)}
    </div>
    ${TOPICS.adapters.filter((one) => one !== RANK).map((one) => field(one, view, actions))}
  `;
}

/** `leftOver`: the errors that no input of their own shows. */
export function methodFields(view: View, leftOver: CoreError[], actions: Actions): TemplateResult {
  return html`<fieldset id=${inputId("/peft")} tabindex="-1">
    <legend>${say("form.method")}</legend>
    <div class="choices">
      ${METHODS.map(
        (method) =>
          html`<label class="choice">
            <input
              type="radio"
              name="method"
              value=${method.id}
              .checked=${live(holds(method, view))}
              @change=${() => chooseMethod(method, view, actions)}
            />
            ${say(method.label)}
          </label>`,
      )}
    </div>
    ${complaints({ ...view, errors: leftOver }, "/peft", ["/quantization"])}
  </fieldset>`;
}
