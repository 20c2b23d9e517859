// Two requests side by side: each difference with the memory and the time it is worth.
import { html, nothing, type TemplateResult } from "lit";
import type { ComparedRun, Comparison, Json } from "../contract.ts";
import { count, seconds, size, sizeWords } from "../format.ts";
import { VERDICTS } from "../names.ts";
import { dotted, plain } from "../pointer.ts";
import type { Actions, View } from "../view.ts";
import { say } from "../words/say.ts";

const written = (value: Json): string => (value === null ? say("compare.unset") : plain(value));

const signed = (value: number, words: (value: number) => string) =>
  value === 0 ? words(0) : `${value > 0 ? "+" : "\u2212"}${words(Math.abs(value))}`;

/** Nothing while no card is named. */
function verdict({ verdict, headroom }: ComparedRun): TemplateResult | typeof nothing {
  if (!verdict || headroom === undefined) return nothing;
  const { sign, word } = VERDICTS[verdict];
  return html`<span class="sign" aria-hidden="true">${sign}</span> ${word},
    ${say(headroom < 0 ? "tiers.over" : "tiers.spare", { size: sizeWords(Math.abs(headroom)) })}`;
}

function table(comparison: Comparison): TemplateResult {
  const { a, b } = comparison;
  return html`<table class="compare">
    <caption class="caption">
      ${say("compare.caption")}
    </caption>
    <thead>
      <tr>
        <th scope="col">${say("compare.field")}</th>
        <th scope="col">A</th>
        <th scope="col">B</th>
        <th scope="col" class="number">${say("compare.memory")}</th>
        <th scope="col" class="number">${say("compare.time")}</th>
      </tr>
    </thead>
    <tbody>
      ${comparison.differences.map(
        (each) =>
          html`<tr>
            <th scope="row"><code>${dotted(each.field)}</code></th>
            <td>${written(each.a)}</td>
            <td>${written(each.b)}</td>
            <td class="number">${signed(each.device, size)}</td>
            <td class="number">${signed(each.seconds_per_step, seconds)}</td>
          </tr>`,
      )}
    </tbody>
    <tfoot>
      <tr>
        <th scope="row">${say("compare.total")}</th>
        <td>${size(a.device)}</td>
        <td>${size(b.device)}</td>
        <td class="number">${signed(b.device - a.device, size)}</td>
        <td class="number">${signed(b.seconds_per_step - a.seconds_per_step, seconds)}</td>
      </tr>
      <tr>
        <th scope="row">${say("compare.verdict")}</th>
        <td data-verdict=${a.verdict ?? "none"}>${verdict(a)}</td>
        <td data-verdict=${b.verdict ?? "none"}>${verdict(b)}</td>
        <td></td>
        <td></td>
      </tr>
      <tr>
        <th scope="row">${say("compare.batch")}</th>
        <td>${count(a.effective_batch)}</td>
        <td>${count(b.effective_batch)}</td>
        <td></td>
        <td></td>
      </tr>
    </tfoot>
  </table>`;
}

export function compare(view: View, actions: Actions): TemplateResult | typeof nothing {
  const { comparison, kept } = view;
  return html`<section class="panel" aria-labelledby="compare-title">
    <h3 id="compare-title">${say("compare.title")}</h3>
    <p class="caption">${say(kept ? "compare.kept" : "compare.explain")}</p>
    <div class="buttons">
      <button type="button" @click=${() => actions.keep()}>${say("compare.keep")}</button>
      ${kept
        ? html`<button type="button" class="quiet" @click=${() => actions.swap()}>
              ${say("compare.swap")}
            </button>
            <button
              type="button"
              class="quiet"
              @click=${({ target }: Event) => {
                // It goes with its A; the focus stays beside it.
                (target as Element).parentElement?.querySelector("button")?.focus();
                actions.look({ kept: undefined, comparison: undefined });
              }}
            >
              ${say("compare.drop")}
            </button>`
        : nothing}
    </div>
    ${comparison?.ok
      ? comparison.differences.length === 0
        ? html`<p>${say("compare.same")}</p>`
        : table(comparison)
      : nothing}
    ${comparison?.ok && comparison.no_effect.length > 0
      ? html`<p class="caption">
          ${say("compare.no_effect", {
            fields: comparison.no_effect.map((each) => dotted(each.field)).join(", "),
          })}
        </p>`
      : nothing}
  </section>`;
}
