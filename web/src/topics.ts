// The folds of the form that come with the rest of the page: what a run has beyond one card and one loss, every other setting of
// the contract, and the request as text. Each field is a line of a table, shown where it matters to what has been chosen.
import "./every-field.ts";
import { html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import { generates, STRATEGY, taskOf, type Field, type Ground } from "./fields.ts";
import { field } from "./inputs.ts";
import { get, isObject } from "./pointer.ts";
import { stated, topic } from "./topic.ts";
import type { Actions, View } from "./view.ts";
import { say, type Word } from "./words/say.ts";

const is =
  (pointer: string, words: string[]) =>
  ({ request }: Ground) =>
    words.includes(String(get(request, pointer)));

const grouped = (ground: Ground) => (taskOf(ground)?.num_generations ?? 1) > 1;
/** A reference scores completions, and not their prompts. */
const withReference = (ground: Ground) => taskOf(ground)?.reference === true;
const scoresGiven = (ground: Ground) => withReference(ground) && !generates(ground);
const withVllm = (ground: Ground) => grouped(ground) && get(ground.request, "/rl/use_vllm") === true;
const colocated = (ground: Ground) => withVllm(ground) && get(ground.request, "/rl/vllm_mode") !== "server";
const strategy = (...words: string[]) => is(STRATEGY.pointer, words);
const fsdp = strategy("fsdp", "fsdp2");
const zero = strategy("zero0", "zero1", "zero2", "zero3");

const number = (pointer: string, label: Word, step: number, when?: Field["when"]): Field => ({
  pointer,
  label,
  kind: "number",
  step,
  explained: true,
  ...(when ? { when } : {}),
});
const flag = (pointer: string, label: Word, when?: Field["when"]): Field => ({
  pointer,
  label,
  kind: "flag",
  ...(when ? { when } : {}),
});
const choice = (
  pointer: string,
  label: Word,
  labels: Record<string, string>,
  when?: Field["when"],
): Field => ({
  pointer,
  label,
  kind: "choice",
  labels,
  ...(when ? { when } : {}),
});

const OFFLOADED = { states_and_gradients: "states + gradients" };
const PLACES = { none: "GPU", cpu: "CPU", nvme: "NVMe" };

export const LATER_TOPICS = {
  task: [
    choice("/task", "field.task", {}),
    number("/rl/num_generations", "field.generations", 1, grouped),
    number("/rl/max_prompt_length", "field.prompt", 128, withReference),
    number("/rl/max_completion_length", "field.completion", 128, generates),
    number("/rl/beta", "field.beta", 0.01, withReference),
    flag("/rl/precompute_ref_log_probs", "field.precompute", scoresGiven),
    flag("/rl/use_vllm", "field.vllm", grouped),
    choice("/rl/vllm_mode", "field.vllm_mode", {}, withVllm),
    number("/rl/vllm_gpu_memory_utilization", "field.vllm_share", 0.05, colocated),
    flag("/rl/vllm_enable_sleep_mode", "field.vllm_sleep", colocated),
  ],
  sharing: [
    flag("/training/activation_offloading", "field.activation_offload"),
    choice("/training/optimizer_offload", "field.optimizer_offload", OFFLOADED),
    flag("/parallel/fsdp_config/reshard_after_forward", "field.reshard", fsdp),
    flag("/parallel/fsdp_config/offload_params", "field.fsdp_offload", fsdp),
    flag("/parallel/sync_each_batch", "field.sync_each_batch", fsdp),
    choice("/parallel/zero_optimization/offload_optimizer/device", "field.zero_optimizer", PLACES, zero),
    choice("/parallel/zero_optimization/offload_param/device", "field.zero_param", PLACES, strategy("zero3")),
    number("/parallel/sequence_parallel_size", "field.sequence_parallel", 1, ({ request }) =>
      isObject(request["parallel"]),
    ),
  ],
  evaluation: [
    choice("/training/eval_strategy", "field.eval", {}),
    number("/training/per_device_eval_batch_size", "field.eval_batch", 1),
    flag("/training/prediction_loss_only", "field.loss_only"),
    number("/training/eval_accumulation_steps", "field.eval_accumulation", 1),
  ],
  images: [
    number("/vision/images_per_sample", "field.images", 1),
    number("/vision/image_size", "field.image_size", 28),
    number("/vision/image_height", "field.image_height", 28),
    number("/vision/max_tiles", "field.max_tiles", 1),
    flag("/vision/freeze_vision_tower", "field.freeze_tower"),
  ],
} satisfies Record<string, Field[]>;

/** Text models have no images, unless the request says so. */
function sees({ request, core, report }: View): boolean {
  if (get(request, "/vision") !== undefined) return true;
  const name = report?.model.id ?? request["model"];
  return core.models.some(({ id, hf_id, kind }) => kind === "vlm" && (id === name || hf_id === name));
}

const shown = (name: keyof typeof LATER_TOPICS, view: View) => name !== "images" || sees(view);

/** The fields of these folds that are to be seen now. */
export const laterFields = (view: View): Field[] =>
  (Object.keys(LATER_TOPICS) as (keyof typeof LATER_TOPICS)[])
    .filter((name) => shown(name, view))
    .flatMap((name): Field[] => LATER_TOPICS[name])
    .filter((one) => !one.when || one.when(view));

function fold(
  name: keyof typeof LATER_TOPICS,
  view: View,
  actions: Actions,
): TemplateResult | typeof nothing {
  if (!shown(name, view)) return nothing;
  const fields: Field[] = LATER_TOPICS[name];
  const pointers = fields.map(({ pointer }) => pointer);
  return topic(
    say(`form.${name}`),
    fields.map((one) => stated(one, view)),
    pointers,
    view,
    fields.map((one) => field(one, view, actions)),
  );
}

const text = (view: View, actions: Actions) =>
  html`<details class="more">
    <summary>${say("form.json")}</summary>
    <div class="field">
      <label for="request-text">${say("form.request")}</label>
      <textarea
        id="request-text"
        rows="16"
        spellcheck="false"
        autocapitalize="off"
        aria-describedby="request-text-help"
        .value=${live(view.draft ?? JSON.stringify(view.request, null, 2))}
        @input=${(event: InputEvent) => actions.editText((event.target as HTMLTextAreaElement).value)}
      ></textarea>
      <p class="help" id="request-text-help">${say("form.request_help")}</p>
    </div>
  </details>`;

export const topics = (view: View, actions: Actions): TemplateResult => html`
  ${fold("task", view, actions)} ${fold("images", view, actions)} ${fold("sharing", view, actions)}
  ${fold("evaluation", view, actions)}
  <plimsoll-every-field .view=${view} .actions=${actions}></plimsoll-every-field>
  ${text(view, actions)}
`;
