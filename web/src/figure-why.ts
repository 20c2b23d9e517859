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

export function figureWhy(id: FigureId, report: Report): TemplateResult {
  const { peak } = report.memory;
  const { model, gpu } = report;
  const components = peakComponents(report);
  const bytesOf = (name: string) => components.find((each) => each.id === name)?.bytes ?? 0;
  const moment = instantPhrase(peak.instant);
  const body = (): unknown => {
    switch (id) {
      case "allocated":
        return html`<p>${say("why.allocated", { moment })}</p>
          ${sum(
            components
              .filter((each) => !OUTSIDE.has(each.id) && each.bytes > 0)
              .map((each) => ({ name: label(each.id), bytes: each.bytes })),
            { name: say("figure.allocated"), bytes: peak.allocated },
          )}`;
      case "reserved":
        return html`<p>${say("why.reserved")}</p>
          ${sum(
            [
              { name: say("figure.allocated"), bytes: peak.allocated },
              { name: label("allocator_slack"), bytes: peak.reserved - peak.allocated },
            ],
            { name: say("figure.reserved"), bytes: peak.reserved },
          )}`;
      case "device":
        return html`<p>${say("why.device")}</p>
          ${sum(
            [
              { name: say("figure.reserved"), bytes: peak.reserved },
              { name: label("cuda_context"), bytes: bytesOf("cuda_context") || peak.device - peak.reserved },
              ...(bytesOf("engine_overhead") > 0
                ? [{ name: label("engine_overhead"), bytes: bytesOf("engine_overhead") }]
                : []),
            ],
            { name: say("figure.device"), bytes: peak.device },
          )}`;
      case "band":
        return html`<p>${say("why.band")}</p>
          ${evidence(report)}
          <p><a href="./docs/accuracy.html">${say("why.all_runs")}</a></p>`;
      case "usable":
        return html`<p>${say("why.usable", { gpu: gpu?.name ?? "" })}</p>
          ${gpu
            ? sum(
                [
                  { name: say("figure.usable"), bytes: gpu.usable },
                  { name: `\u2212 ${say("figure.device")}`, bytes: peak.device },
                ],
                gpu.headroom < 0
                  ? { name: say("why.missing"), bytes: -gpu.headroom }
                  : { name: say("why.left"), bytes: gpu.headroom },
              )
            : nothing}
          <p>
            <small lang="en">${say("breakdown.source")}: ${source(gpu?.usable_source ?? "")}</small>
          </p>`;
      case "trainable":
        return html`<p>
          ${say("why.trainable", {
            trainable: count(model.trainable),
            all: count(model.parameters),
          })}
          ${model.adapter_file_bytes > 0 ? say("why.trainable_lora") : nothing}
        </p>`;
      case "adapter":
        return html`<p>
          ${say("why.adapter", {
            trainable: count(model.trainable),
            each: Math.round((10 * model.adapter_file_bytes) / Math.max(1, model.trainable)) / 10,
          })}
        </p>`;
      case "checkpoint":
        return html`<p>${say("why.checkpoint")}</p>`;
      case "host":
        return html`<p>${say("why.host")}</p>`;
    }
  };
  return html`${body()}
    <p class="term-line">${glossary(id)}</p>`;
}
