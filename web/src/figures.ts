// The figures behind the verdict. Each opens to say how it comes about (web/src/figure-why.ts).
import { html, nothing, type TemplateResult } from "lit";
import type { Report } from "./contract.ts";
import { figureWhy } from "./figure-why.ts";
import { count, parameters, percent, size, sizeShort, unit } from "./format.ts";
import type { Actions, View } from "./view.ts";
import { say, type Word } from "./words/say.ts";

export type FigureId =
  | "device"
  | "reserved"
  | "allocated"
  | "band"
  | "usable"
  | "trainable"
  | "adapter"
  | "checkpoint"
  | "host";

interface Figure {
  id: FigureId;
  name: Word;
  value: string;
  beside?: string;
}

function figuresOf(report: Report): Figure[] {
  const { peak, host_bytes } = report.memory;
  const { model, gpu } = report;
  const all: (Figure | false)[] = [
    { id: "device", name: "figure.device", value: size(peak.device) },
    {
      id: "band",
      name: "figure.band",
      value: `${sizeShort(peak.low)}\u2013${sizeShort(peak.high)}\u00a0${unit()}`,
    },
    !!gpu && { id: "usable", name: "figure.usable", value: size(gpu.usable) },
    { id: "reserved", name: "figure.reserved", value: size(peak.reserved) },
    { id: "allocated", name: "figure.allocated", value: size(peak.allocated) },
    {
      id: "trainable",
      name: "figure.trainable",
      value: count(model.trainable),
      beside: say("figure.of", {
        percent: percent(model.trainable_percent),
        all: parameters(model.all_parameters),
      }),
    },
    model.adapter_file_bytes > 0 && {
      id: "adapter",
      name: "figure.adapter",
      value: size(model.adapter_file_bytes),
    },
    model.checkpoint_bytes > 0 && {
      id: "checkpoint",
      name: "figure.checkpoint",
      value: size(model.checkpoint_bytes),
    },
    !!host_bytes && { id: "host", name: "figure.host", value: size(host_bytes) },
  ];
  return all.filter((figure) => figure !== false);
}

export function figures(view: View, report: Report, actions: Actions): TemplateResult {
  const all = figuresOf(report);
  const open = all.find(({ id }) => id === view.figure);
  return html`<section class="panel" aria-labelledby="figures-title">
    <h3 id="figures-title">${say("figures.title")}</h3>
    <dl class="figures">
      ${all.map(
        ({ id, name, value, beside }) =>
          html`<div>
            <dt>${say(name)}</dt>
            <dd>
              <button
                type="button"
                class="opens"
                aria-label="${say(name)} ${value}"
                aria-expanded=${id === view.figure ? "true" : "false"}
                @click=${() => actions.look({ figure: id === view.figure ? undefined : id })}
              >
                ${value}
              </button>
              ${beside === undefined ? nothing : html`<small>${beside}</small>`}
            </dd>
          </div>`,
      )}
    </dl>
    ${open
      ? html`<section class="why" aria-label=${say("why.title", { name: say(open.name) })}>
          ${figureWhy(open.id, report)}
        </section>`
      : nothing}
  </section>`;
}
