// How far one setting can go while the rest stays, what one more costs, and which batches and lengths fit together.
import { html, nothing, type TemplateResult } from "lit";
import type { Limits, Report, Request, Verdict } from "../contract.ts";
import { count, parameters, size } from "../format.ts";
import { VERDICTS } from "../names.ts";
import { generates } from "../fields.ts";
import { effective } from "../inputs.ts";
import { BATCH, LENGTH, type Edit } from "../own.ts";
import { put } from "../pointer.ts";
import type { Actions, View } from "../view.ts";
import { say, type Word } from "../words/say.ts";
import { isStale } from "./fixes.ts";

const FIELDS: [keyof Limits & string, Word][] = [
  ["per_device_train_batch_size", "field.batch"],
  ["max_length", "field.length"],
  ["r", "field.rank"],
  ["image_size", "limits.image"],
];

const COSTS: [string, Word][] = [
  ["one_more_sample", "limits.sample"],
  ["256_more_tokens", "limits.tokens"],
  ["twice_the_rank", "limits.rank"],
  ["one_more_image", "limits.one_image"],
];

/** "4k", as lengths are called: eight of them have to stand side by side on a phone. */
const thousands = (length: number) => (length % 1024 === 0 ? `${length / 1024}k` : count(length));

const PROMPT = "/rl/max_prompt_length";
const COMPLETION = "/rl/max_completion_length";

/** What sets this length, as the core sets it to find how far it can go (core/run/limits.cpp): a sequence that the policy writes is a prompt and a completion. */
export function lengthEdits(view: View, length: number): Edit[] {
  if (!generates(view)) return [{ pointer: LENGTH, value: length }];
  const now = Number(effective(view, COMPLETION));
  const completion = now < length ? now : Math.floor(length / 2);
  return [
    { pointer: COMPLETION, value: completion },
    { pointer: PROMPT, value: length - completion },
    { pointer: LENGTH, value: undefined },
  ];
}

/** The words stand in the cells too: colour alone says nothing to some. */
function map(limits: Limits, view: View, actions: Actions): TemplateResult {
  const { per_device_train_batch_size: batches, max_length: lengths, verdicts } = limits.map;
  const mine = {
    batch: effective(view, BATCH),
    length: effective(view, LENGTH),
  };
  const cell = (verdict: Verdict, batch: number, length: number) =>
    html`<td data-verdict=${verdict} class=${batch === mine.batch && length === mine.length ? "mine" : ""}>
      <button
        type="button"
        aria-label=${say("limits.cell", { batch, length: count(length), verdict: VERDICTS[verdict].word })}
        @click=${() =>
          actions.apply(
            [{ pointer: BATCH, value: batch }, ...lengthEdits(view, length)],
            say("plan.did", { what: `${batch} × ${count(length)}` }),
            true,
          )}
      >
        ${VERDICTS[verdict].sign}
      </button>
    </td>`;
  return html`<div class="map-frame">
    <table class="map">
      <caption class="caption">
        ${say("limits.map")}
      </caption>
      <thead>
        <tr>
          <th scope="col">${say("limits.axes")}</th>
          ${lengths.map((length) => html`<th scope="col" class="number">${thousands(length)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${batches.map(
          (batch, row) =>
            html`<tr>
              <th scope="row">${batch}</th>
              ${lengths.map((length, column) => cell(verdicts[row]?.[column] ?? "no", batch, length))}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Whatever batch and length are, the map is the same. */
const besideMap = (request: Request): Request =>
  [BATCH, LENGTH, PROMPT].reduce((under, pointer) => put(under, pointer, undefined), request);

export function limits(view: View, report: Report, actions: Actions): TemplateResult | typeof nothing {
  const found = view.advice?.limits;
  if (!found || !report.gpu) return nothing;
  const { model } = found;
  const { limited, request } = view;
  const gone = limited !== undefined && isStale(besideMap(limited), { request: besideMap(request) });
  const stale = !gone && isStale(limited, view);
  return html`<section class="panel ${gone ? "stale" : ""}" ?inert=${gone} aria-labelledby="limits-title">
    <h3 id="limits-title">${say("limits.title", { gpu: report.gpu.name })}</h3>
    <dl class="figures ${stale ? "stale" : ""}">
      ${FIELDS.map(([key, word]) => {
        const value = found[key];
        const asked = key === "per_device_train_batch_size" || key === "max_length";
        if (typeof value !== "number" && !asked) return nothing;
        return html`<div>
          <dt>${say(word)}</dt>
          <dd>
            ${typeof value === "number"
              ? say("limits.up_to", { value: count(value) })
              : say("limits.nothing")}
          </dd>
        </div>`;
      })}
      ${model
        ? html`<div>
            <dt>${say("limits.model")}</dt>
            <dd>${model.id} <small>${parameters(model.parameters)}</small></dd>
          </div>`
        : nothing}
      ${COSTS.map(([key, word]) => {
        const bytes = found.costs[key];
        return typeof bytes === "number"
          ? html`<div>
              <dt>${say(word)}</dt>
              <dd>+${size(bytes)}</dd>
            </div>`
          : nothing;
      })}
    </dl>
    <details>
      <summary>${say("limits.how")}</summary>
      <p class="caption">${say("limits.found")}</p>
    </details>
    ${map(found, view, actions)}
  </section>`;
}
