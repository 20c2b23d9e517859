// The GPU: all presets by size, with what a program can use of each.
import { html, nothing, type TemplateResult } from "lit";
import { guard } from "lit/directives/guard.js";
import { live } from "lit/directives/live.js";
import type { GpuPreset } from "./contract.ts";
import { sizeWords } from "./format.ts";
import { asText, complaints, describedBy, inputId, invalid } from "./inputs.ts";
import { get } from "./pointer.ts";
import type { Actions, View } from "./view.ts";
import { language, say } from "./words/say.ts";

/** `all` false: only the chosen one, until the first answer is on the screen. */
const gpuOptions = (every: GpuPreset[], chosen: string, all: boolean) =>
  guard([every, chosen, all, language()], () => {
    const gpus = all ? every : every.filter((gpu) => gpu.id === chosen);
    const sizes = [...new Set(gpus.map((gpu) => gpu.tier_gib))].sort((one, other) => one - other);
    return sizes.map(
      (tier) =>
        html`<optgroup label="${tier} GiB">
          ${gpus
            .filter((gpu) => gpu.tier_gib === tier)
            .map((gpu) => html`<option value=${gpu.id} ?selected=${gpu.id === chosen}>${gpu.name}</option>`)}
        </optgroup>`,
    );
  });

export function gpuField(view: View, actions: Actions): TemplateResult {
  const pointer = "/hardware/gpu";
  const value = asText(get(view.request, pointer));
  const known = view.core.gpus.find((gpu) => gpu.id === value);
  return html`<div class="field">
    <label for=${inputId(pointer)}>GPU</label>
    <select
      id=${inputId(pointer)}
      .value=${live(value)}
      aria-invalid=${invalid(view, pointer)}
      aria-describedby="${inputId(pointer)}-help ${describedBy(view, pointer) === nothing
        ? ""
        : `${inputId(pointer)}-error`}"
      @change=${(event: Event) => {
        const chosen = (event.target as HTMLSelectElement).value;
        actions.edit([{ pointer, value: chosen === "" ? undefined : chosen }], "step");
      }}
    >
      <option value="" ?selected=${value === ""}>${say("gpu.none")}</option>
      ${known !== undefined || value === ""
        ? nothing
        : html`<option value=${value} selected>${value}</option>`}
      ${gpuOptions(view.core.gpus, value, view.rest !== undefined)}
    </select>
    <p class="help" id="${inputId(pointer)}-help">
      ${known ? say("gpu.usable", { size: sizeWords(known.usable_bytes) }) : nothing}
    </p>
    ${complaints(view, pointer)}
  </div>`;
}
