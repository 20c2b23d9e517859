// The method: whether there are adapters, and in how many bits the base is held.
import { html, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import type { CoreError, Method } from "./contract.ts";
import { complaints, effective, inputId } from "./inputs.ts";
import { isMethod, methodEdits } from "./own.ts";
import { get } from "./pointer.ts";
import { isExample } from "./scenarios.ts";
import type { Actions, View } from "./view.ts";
import { say } from "./words/say.ts";

/** fp32 weights, as TRL loads them, are not "16-bit". */
export function methodName({ id, quantization }: Method, view: View): string {
  const whole = Object.keys(quantization).length === 0 && effective(view, "/model_args/dtype") === "float32";
  return whole ? say(id === "full" ? "method.full32" : "method.lora32") : say(`method.${id}`);
}

function chooseMethod(method: Method, view: View, actions: Actions): void {
  const own = (section: "peft" | "quantization") =>
    isExample(view) ? undefined : (get(view.request, `/${section}`) ?? actions.shelved(section));
  actions.edit(methodEdits(method, own("peft"), own("quantization")), "step");
}

/** `leftOver`: the errors that no input of their own shows. */
export function methodFields(view: View, leftOver: CoreError[], actions: Actions): TemplateResult {
  return html`<fieldset id=${inputId("/peft")} tabindex="-1">
    <legend>${say("form.method")}</legend>
    <div class="choices">
      ${view.core.methods.map(
        (method) =>
          html`<label class="choice">
            <input
              type="radio"
              name="method"
              value=${method.id}
              .checked=${live(isMethod(method, view.request))}
              @change=${() => chooseMethod(method, view, actions)}
              @click=${() => {
                // Nothing changes; and whoever clicks what is checked has answered which.
                if (isMethod(method, view.request)) chooseMethod(method, view, actions);
              }}
            />
            ${methodName(method, view)}
          </label>`,
      )}
    </div>
    ${view.rest?.lock(["/peft", "/quantization"], say("form.method"), view, actions)}
    ${complaints({ ...view, errors: leftOver }, "/peft", ["/quantization"])}
  </fieldset>`;
}
