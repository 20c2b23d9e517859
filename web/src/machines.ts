// Hours and cost of this run: on the chosen GPU, and on every machine that can be rented.
import { html, nothing, type TemplateResult } from "lit";
import type { Machine, Report, Time } from "./contract.ts";
import { source } from "./component-why.ts";
import { dollars, duration, range, seconds, significant } from "./format.ts";
import { VERDICTS } from "./names.ts";
import { opened, opener } from "./opening-row.ts";
import type { Actions, View } from "./view.ts";
import { parts, say } from "./words/say.ts";

const SHOWN = 8;

const price = (from: Machine["on_demand"]) => (from ? range(from.usd ?? from.usd_per_hour, dollars) : "");

const spot = (machine: Machine) =>
  machine.spot ? range(machine.spot.expected_usd ?? machine.spot.usd_per_hour, dollars) : "";

function chosen(time: Time, report: Report): TemplateResult {
  if (time.seconds_per_step === undefined) return html`<p>${say("time.unknown")}</p>`;
  return html`<p>
    ${parts("time.step", {
      gpu: report.gpu?.name ?? "",
      seconds: html`<b>${seconds(time.seconds_per_step)}</b>`,
      low: seconds(time.low ?? time.seconds_per_step),
      high: seconds(time.high ?? time.seconds_per_step),
      tokens: significant(time.tokens_per_second ?? 0),
    })}
    ${time.hours !== undefined
      ? parts("time.hours", {
          hours: html`<b>${duration(time.hours)}</b>`,
          range: time.hours_range ? range(time.hours_range, duration) : duration(time.hours),
        })
      : say("time.no_data")}
    ${time.cost !== undefined ? say("time.cost", { cost: dollars(time.cost) }) : nothing}
  </p>`;
}

/** "8 × H100 SXM 80GB" */
const cards = ({ gpu, gpus }: Machine, view: View) =>
  `${gpus > 1 ? `${gpus} × ` : ""}${view.core.gpus.find(({ id }) => id === gpu)?.name ?? gpu}`;

function row(machine: Machine, id: string, hours: boolean, view: View, actions: Actions): TemplateResult {
  return html`<tr data-verdict=${machine.verdict}>
      <th scope="row">
        ${opener(id, html`${machine.provider_name} <small>${machine.instance}</small>`, view, actions)}
      </th>
      <td class="wide-only">${cards(machine, view)}</td>
      <td>
        <span class="sign" aria-hidden="true">${VERDICTS[machine.verdict].sign}</span>
        <span class="wide-only">${VERDICTS[machine.verdict].word}</span>
      </td>
      <td class="number">
        ${hours && machine.hours !== undefined
          ? duration(machine.hours)
          : machine.seconds_per_step !== undefined
            ? seconds(machine.seconds_per_step)
            : "?"}
      </td>
      <td class="number">
        ${price(machine.on_demand)}
        ${machine.on_demand || !machine.spot
          ? nothing
          : html`<span class="narrow-only">${spot(machine)} <small>${say("time.spot")}</small></span>`}
      </td>
      <td class="number wide-only">${spot(machine)}</td>
    </tr>
    ${opened(
      id,
      6,
      html`${cards(machine, view)}${machine.region ? `, ${machine.region}` : ""}.
        ${say("time.seen", { date: machine.date })} <span lang="en">${source(machine.source)}</span>`,
      view,
    )}`;
}

export function machines(view: View, report: Report, actions: Actions): TemplateResult | typeof nothing {
  // The first answer may have been given without the clouds, and so without the cost.
  const time = view.more?.time ?? report.time;
  const listed = view.more?.time?.machines ?? [];
  if (!time && listed.length === 0) return nothing;
  const fitting = listed.filter((machine) => machine.verdict !== "no");
  const shown = view.everyMachine ? listed : fitting.slice(0, SHOWN);
  const hours = listed.some((machine) => machine.hours !== undefined);
  return html`<section class="panel" aria-labelledby="machines-title">
    <h3 id="machines-title">${say("time.title")}</h3>
    ${time && report.gpu ? chosen(time, report) : nothing}
    ${time?.seconds_per_step === undefined
      ? nothing
      : html`<details>
          <summary>${say("time.how")}</summary>
          <p class="caption">${say("time.formula")}</p>
        </details>`}
    ${listed.length > 0
      ? html`<table class="machines">
            <caption class="caption">
              ${say(hours ? "time.caption_run" : "time.caption_hour")}
            </caption>
            <thead>
              <tr>
                <th scope="col">${say("time.machine")}</th>
                <th scope="col" class="wide-only">GPU</th>
                <th scope="col">${say("time.verdict")}</th>
                <th scope="col" class="number">${say(hours ? "time.column_hours" : "time.column_step")}</th>
                <th scope="col" class="number">${say("time.on_demand")}</th>
                <th scope="col" class="number wide-only">${say("time.spot")}</th>
              </tr>
            </thead>
            <tbody>
              ${shown.map((machine, index) => row(machine, `machine-${index}`, hours, view, actions))}
            </tbody>
          </table>
          ${shown.length === 0 ? html`<p>${say("time.none")}</p>` : nothing}
          ${shown.length < listed.length || view.everyMachine
            ? html`<button
                type="button"
                class="quiet"
                @click=${() => actions.look({ everyMachine: !view.everyMachine })}
              >
                ${view.everyMachine ? say("time.fewer") : say("time.all", { count: listed.length })}
              </button>`
            : nothing}`
      : nothing}
  </section>`;
}
