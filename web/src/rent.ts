// "Which GPU should I rent?": the cheapest machine that works, the cheapest without a change, the fastest; and what
// may be cheaper, at a price without a date.
import { html, nothing, type TemplateResult } from "lit";
import type { RentRow } from "./contract.ts";
import { source } from "./component-why.ts";
import { effective } from "./inputs.ts";
import { ACCUMULATION, BATCH } from "./own.ts";
import { dollars, duration, seconds, sizeWords } from "./format.ts";
import type { Actions, View } from "./view.ts";
import { say } from "./words/say.ts";

type Answer = "cheapest" | "unchanged" | "fastest" | "undated";
const ANSWERS: Answer[] = ["cheapest", "unchanged", "fastest", "undated"];

const isUndated = (row: RentRow) => row.date === "undated";
const isBelow = (row: RentRow, other: RentRow | null) =>
  other !== null && row.usd_per_1000_steps < other.usd_per_1000_steps;

/** "8 × H100 SXM 80GB" */
const cards = ({ gpus, name }: RentRow) => `${gpus > 1 ? `${gpus} × ` : ""}${name}`;

const edits = (row: RentRow) => [
  { pointer: "/hardware/gpu", value: row.gpu },
  ...Object.entries(row.changes).map(([pointer, value]) => ({ pointer, value })),
];

/** Of the whole run where its length is known, else of 1,000 steps. */
export const cost = (row: RentRow) =>
  row.usd === undefined
    ? say("rent.steps", { price: dollars(row.usd_per_1000_steps) })
    : say("rent.run", { price: dollars(row.usd) });

/** The effective batch is kept on any number of cards: what of it then lies on each. */
function batchOn({ changes }: RentRow, view: View): string {
  if (changes[BATCH] === undefined && changes[ACCUMULATION] === undefined) return "";
  const on = (pointer: string) => `${changes[pointer] ?? effective(view, pointer) ?? 1}`;
  return `, ${say("rent.batch", { batch: on(BATCH), accumulation: on(ACCUMULATION) })}`;
}

function line(answers: Answer[], row: RentRow, view: View, actions: Actions): TemplateResult {
  const machine = `${row.provider_name} ${row.instance}`;
  const takes = row.hours === undefined ? seconds(row.seconds_per_step) : duration(row.hours);
  return html`<li>
    <b>${answers.map((answer) => say(`rent.${answer}`)).join(", ")}</b>: ${cards(row)}
    <small>(${machine})</small>, ${takes}, <b>${cost(row)}</b>
    <small title=${row.source}>(${isUndated(row) ? say("rent.no_date") : row.date})</small>${row.title === ""
      ? nothing
      : html`, ${row.title}`}${batchOn(row, view)}${row.host_bytes === 0
      ? nothing
      : html`, ${say("chip.host", { size: sizeWords(row.host_bytes) })}`}
    <button
      type="button"
      aria-label=${`${say("rent.take")}: ${machine}`}
      @click=${() => actions.apply(edits(row), say("plan.did", { what: machine }))}
    >
      ${say("rent.take")}
    </button>
  </li>`;
}

export function rent(view: View, _report: unknown, actions: Actions): TemplateResult | typeof nothing {
  const found = view.advice?.rent;
  if (!found) return nothing;
  // One machine may be the answer to several of the questions.
  const rows = new Map<string, { row: RentRow; answers: Answer[] }>();
  for (const asked of ANSWERS) {
    const row = found[asked];
    if (!row) continue;
    // What may be of any year is not called cheaper than the cheapest.
    const perhaps = asked === "unchanged" && isUndated(row) && isBelow(row, found.cheapest);
    const answer = perhaps ? "undated" : asked;
    const key = [row.provider, row.instance, row.gpus, row.fix, row.strategy].join(" ");
    const known = rows.get(key);
    if (known) known.answers = [...new Set([...known.answers, answer])];
    else rows.set(key, { row, answers: [answer] });
  }
  if (rows.size === 0) {
    return html`<section class="panel">
      <h3>${say("rent.title")}</h3>
      <p>${say("rent.none")}</p>
    </section>`;
  }
  const [first] = rows.values();
  return html`<section class="panel" aria-labelledby="rent-title">
    <h3 id="rent-title">${say("rent.title")}</h3>
    <p class="caption">${say("rent.dated")}</p>
    <ul class="rents">
      ${[...rows.values()].map(({ row, answers }) => line(answers, row, view, actions))}
    </ul>
    <details>
      <summary>${say("rent.source")}</summary>
      <p class="caption" lang="en">${first ? source(first.row.source) : nothing}</p>
    </details>
  </section>`;
}
