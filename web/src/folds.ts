// What stands in the folds of the form, fetched with the rest of the page.
import { html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import { anyInput } from "./any-input.ts";
import type { Json } from "./contract.ts";
import { hasAdapters, RANK, TOPICS, WEIGHT_TYPE, type Field } from "./fields.ts";
import { asText, complaints, describedBy, effective, field, inputId, invalid } from "./inputs.ts";
import type { Actions, View } from "./view.ts";
import { say, type Word } from "./words/say.ts";

const TARGETS: [value: Json, label: Word][] = [
  [["q_proj", "v_proj"], "targets.qv"],
  [["q_proj", "k_proj", "v_proj", "o_proj"], "targets.attention"],
  [["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"], "targets.all"],
  ["all-linear", "targets.linear"],
];
const targetList = (value: Json | undefined) =>
  Array.isArray(value) ? [...value].map(asText).sort().join() : asText(value);

/** Where the adapters are and how large; nothing while there are none. */
function adapterFields(view: View, actions: Actions): TemplateResult | typeof nothing {
  if (!hasAdapters(view)) return nothing;
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
      ${view.rest?.lock([pointer], say("targets.label"), view, actions)} ${complaints(view, pointer)}
    </div>
    ${TOPICS.adapters.filter((one) => one !== RANK).map((one) => field(one, view, actions))}
  `;
}

// Autocast: two flags that exclude each other

function autocastField(view: View, actions: Actions): TemplateResult {
  const on = (kind: string) => effective(view, `/training/${kind}`) === true;
  const value = on("bf16") ? "bf16" : on("fp16") ? "fp16" : "none";
  const id = inputId("/training/bf16");
  return html`<div class="field">
    <label for=${id}>${say("form.autocast")}</label>
    <select
      id=${id}
      .value=${live(value)}
      aria-invalid=${invalid(view, "/training/bf16")}
      aria-describedby=${describedBy(view, "/training/bf16")}
      @change=${(event: Event) => {
        const chosen = (event.target as HTMLSelectElement).value;
        actions.edit(
          ["bf16", "fp16"].map((kind) => ({
            pointer: `/training/${kind}`,
            value: kind === chosen ? true : undefined,
          })),
          "step",
        );
      }}
    >
      <option value="none" ?selected=${value === "none"}>${say("form.off")}</option>
      <option value="bf16" ?selected=${value === "bf16"}>bf16</option>
      <option value="fp16" ?selected=${value === "fp16"}>fp16</option>
    </select>
    ${complaints(view, "/training/bf16", ["/training/fp16"])}
  </div>`;
}

/** The libraries whose versions change what a run takes: those of every stack, and the stack's own. */
function versions(view: View, actions: Actions): TemplateResult {
  const own = asText(effective(view, "/stack"));
  const names = ["transformers", "peft", "torch", own].filter((name, at, all) => all.indexOf(name) === at);
  const fields = names.flatMap((name) => view.core.fields.get(`/versions/${name}`) ?? []);
  return html`${fields.map((info) => anyInput(info, view, actions))}`;
}

type Fold = (view: View, actions: Actions) => unknown;

const each = (fields: Field[], view: View, actions: Actions) =>
  html`${fields.map((one) => field(one, view, actions))}`;

export const folds: Record<keyof typeof TOPICS, Fold> = {
  adapters: adapterFields,
  precision: (view, actions) =>
    html`<div class="two">${field(WEIGHT_TYPE, view, actions)} ${autocastField(view, actions)}</div>
      ${each(
        TOPICS.precision.filter((one) => one !== WEIGHT_TYPE),
        view,
        actions,
      )}`,
  step: (view, actions) => each(TOPICS.step, view, actions),
  around: (view, actions) => [each(TOPICS.around, view, actions), versions(view, actions)],
  data: (view, actions) => html`<div class="two">${each(TOPICS.data, view, actions)}</div>`,
};
