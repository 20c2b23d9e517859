// How a figure of the verdict comes about: in words, from which inputs, and where that is known from.
import { html, nothing, type TemplateResult } from "lit";
import { label } from "./colours.ts";
import { glossary, source } from "./component-why.ts";
import type { Report } from "./contract.ts";
import type { FigureId } from "./figures.ts";
import { count, one, size } from "./format.ts";
import { instantPhrase } from "./names.ts";
import { peakComponents } from "./peak.ts";
import { say } from "./words/say.ts";

/** Components that PyTorch's tensors do not make up. */
const OUTSIDE = new Set(["allocator_slack", "cuda_context", "engine_overhead"]);

interface Line {
  name: string;
  bytes: number;
}

function sum(lines: Line[], total: Line): TemplateResult {
  return html`<table class="sum">
    <tbody>
      ${lines.map(
        (line) =>
          html`<tr>
            <th scope="row">${line.name}</th>
            <td class="number">${size(line.bytes)}</td>
          </tr>`,
      )}
    </tbody>
    <tfoot>
      <tr>
        <th scope="row">${total.name}</th>
        <td class="number">${size(total.bytes)}</td>
      </tr>
    </tfoot>
  </table>`;
}

function signed(error: number): string {
  const words = one(Math.abs(error * 100));
  return `${Math.abs(error) < 0.0005 ? "" : error < 0 ? "\u2212" : "+"}${words}\u00a0%`;
}

/** The measured runs nearest to this one, and how far the estimate was off there. */
function evidence(report: Report): TemplateResult | typeof nothing {
  const near = report.memory.peak.evidence ?? [];
  if (near.length === 0) return nothing;
  return html`<table class="sum">
    <caption class="caption">
      ${say("why.nearest")}
    </caption>
    <tbody>
      ${near.map((run) => {
        const error = run.allocated_error ?? run.reserved_error ?? run.device_error;
        return html`<tr>
          <th scope="row" lang="en">${run.source} <small>${run.id}</small></th>
          <td class="number">${error === undefined ? "" : signed(error)}</td>
        </tr>`;
      })}
    </tbody>
  </table>`;
}

const bytesOf = (report: Report, name: string): number =>
  peakComponents(report).find(({ id }) => id === name)?.bytes ?? 0;

/** What PyTorch's tensors are made up of. */
const tensors = (report: Report): Line[] =>
  peakComponents(report)
    .filter(({ id, bytes }) => !OUTSIDE.has(id) && bytes > 0)
    .map(({ id, bytes }) => ({ name: label(id), bytes }));

/** What stands beside what PyTorch holds. */
function outside(report: Report): Line[] {
  const { device, reserved } = report.memory.peak;
  const engine = bytesOf(report, "engine_overhead");
  return [
    { name: label("cuda_context"), bytes: bytesOf(report, "cuda_context") || device - reserved },
    ...(engine > 0 ? [{ name: label("engine_overhead"), bytes: engine }] : []),
  ];
}

function room({ memory: { peak }, gpu }: Report): TemplateResult | typeof nothing {
  if (!gpu) return nothing;
  return sum(
    [
      { name: say("figure.usable"), bytes: gpu.usable },
      { name: `\u2212 ${say("figure.device")}`, bytes: peak.device },
    ],
    gpu.headroom < 0
      ? { name: say("why.missing"), bytes: -gpu.headroom }
      : { name: say("why.left"), bytes: gpu.headroom },
  );
}

const WHY: Record<FigureId, (report: Report) => TemplateResult> = {
  allocated: (report) => {
    const { instant, allocated } = report.memory.peak;
    return html`<p>${say("why.allocated", { moment: instantPhrase(instant) })}</p>
      ${sum(tensors(report), { name: say("figure.allocated"), bytes: allocated })}`;
  },
  reserved: ({ memory: { peak } }) =>
    html`<p>${say("why.reserved")}</p>
      ${sum(
        [
          { name: say("figure.allocated"), bytes: peak.allocated },
          { name: label("allocator_slack"), bytes: peak.reserved - peak.allocated },
        ],
        { name: say("figure.reserved"), bytes: peak.reserved },
      )}`,
  device: (report) => {
    const { device, reserved } = report.memory.peak;
    return html`<p>${say("why.device")}</p>
      ${sum([{ name: say("figure.reserved"), bytes: reserved }, ...outside(report)], {
        name: say("figure.device"),
        bytes: device,
      })}`;
  },
  band: (report) =>
    html`<p>${say("why.band")}</p>
      ${evidence(report)}
      <p><a href="./docs/accuracy.html">${say("why.all_runs")}</a></p>`,
  usable: (report) =>
    html`<p>${say("why.usable", { gpu: report.gpu?.name ?? "" })}</p>
      ${room(report)}
      <p>
        <small lang="en">${say("breakdown.source")}: ${source(report.gpu?.usable_source ?? "")}</small>
      </p>`,
  trainable: ({ model }) =>
    html`<p>
      ${say("why.trainable", { trainable: count(model.trainable), all: count(model.parameters) })}
      ${model.adapter_file_bytes > 0 ? say("why.trainable_lora") : nothing}
    </p>`,
  adapter: ({ model }) =>
    html`<p>
      ${say("why.adapter", {
        trainable: count(model.trainable),
        each: Math.round((10 * model.adapter_file_bytes) / Math.max(1, model.trainable)) / 10,
      })}
    </p>`,
  checkpoint: () => html`<p>${say("why.checkpoint")}</p>`,
  host: () => html`<p>${say("why.host")}</p>`,
};

export const figureWhy = (id: FigureId, report: Report): TemplateResult =>
  html`${WHY[id](report)}
    <p class="term-line">${glossary(id)}</p>`;
