// The method: whether there are adapters, and in how many bits the base is held.
import { html, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import type { CoreError, Json } from "./contract.ts";
import { hasAdapters } from "./fields.ts";
import { complaints, inputId } from "./inputs.ts";
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
