// Every measured run against its prediction: a scatter, the same as a table, and a filter by stack and reading.
import "./page.ts";
import { scaleLog } from "d3-scale";
import { html, nothing, render, svg, type TemplateResult } from "lit";
import pointsUrl from "plimsoll-accuracy/accuracy.jsonl?url";
import runsUrl from "plimsoll-measured/runs.json?url";
import type { Request } from "../contract.ts";
import { GIB, sizeExact } from "../format.ts";
import { encode } from "../link.ts";
import { readPoints, summary, type Point } from "./points.ts";

const place = document.getElementById("runs");
const state = { stack: "", kind: "allocated" };
let points: Point[] = [];

const KINDS: Record<string, string> = {
  allocated: "allocated: torch.cuda.max_memory_allocated",
  reserved: "reserved: torch.cuda.max_memory_reserved",
  device: "device: nvidia-smi",
};
const SIDE = 420;
const MARGIN = 44;

const percent = (value: number) =>
  `${value > 0 ? "+" : value < 0 ? "\u2212" : ""}${Math.abs(100 * value).toFixed(2)}\u00a0%`;

const report = (request: Request) => `../index.html${encode(request)}`;

function scatter(shown: Point[]): TemplateResult {
  const all = shown.flatMap((point) => [point.measured / GIB, point.predicted / GIB]);
  const scale = scaleLog()
    .domain([Math.min(...all) / 1.2, Math.max(...all) * 1.2])
    .range([0, SIDE]);
  const x = (gib: number) => MARGIN + scale(gib);
  const y = (gib: number) => 8 + SIDE - scale(gib);
  const ticks = [0.5, 1, 2, 5, 10, 20, 40, 80, 160, 320, 640].filter(
    (tick) => tick > (scale.domain()[0] ?? 0) && tick < (scale.domain()[1] ?? 0),
  );
  const [low, high] = scale.domain() as [number, number];
  return html`<svg
    class="scatter"
    viewBox="0 0 ${SIDE + MARGIN + 16} ${SIDE + 52}"
    role="group"
    aria-label="Predicted against measured memory of ${shown.length} runs; the table below holds the same figures."
  >
    <line class="axis" x1=${x(low)} y1=${y(low)} x2=${x(high)} y2=${y(low)} />
    <line class="axis" x1=${x(low)} y1=${y(low)} x2=${x(low)} y2=${y(high)} />
    <line class="diagonal" x1=${x(low)} y1=${y(low)} x2=${x(high)} y2=${y(high)} />
    ${ticks.map(
      (tick) => svg`
        <line class="axis" x1=${x(tick)} x2=${x(tick)} y1=${y(low)} y2=${y(low) + 5} />
        <text class="tick" x=${x(tick)} y=${y(low) + 19} text-anchor="middle">${tick}</text>
        <line class="axis" x1=${x(low) - 5} x2=${x(low)} y1=${y(tick)} y2=${y(tick)} />
        <text class="tick" x=${x(low) - 8} y=${y(tick) + 4} text-anchor="end">${tick}</text>`,
    )}
    <text class="tick" x=${x(high)} y=${y(low) + 38} text-anchor="end">measured, GiB</text>
    <text class="tick" x=${x(low) + 8} y="20">predicted, GiB</text>
    ${shown.map(
      (point) => svg`
        <a href=${report(point.request)} aria-label="${point.id}: measured ${sizeExact(point.measured)}, predicted ${sizeExact(point.predicted)} GiB">
          <circle cx=${x(point.measured / GIB)} cy=${y(point.predicted / GIB)} r="5">
            <title>${point.id}, ${point.model}: ${percent(point.error)}</title>
          </circle>
        </a>`,
    )}
  </svg>`;
}

const FARTHEST = 6;

/** How each training stack fares in this reading, beside the chart of all. */
function byStack(ofKind: Point[]): TemplateResult {
  const stacks = [...new Set(ofKind.map((point) => point.stack))].sort();
  const plain = (value: number) => percent(value).replace("+", "");
  return html`<table class="by-stack">
    <caption class="caption">
      By training stack: half of the runs, and 95 of 100, are no farther off than this.
    </caption>
    <thead>
      <tr>
        <th scope="col">Stack</th>
        <th scope="col" class="number">Runs</th>
        <th scope="col" class="number">Half</th>
        <th scope="col" class="number">95 %</th>
        <th scope="col" class="number wide-only">Lowest</th>
        <th scope="col" class="number wide-only">Highest</th>
      </tr>
    </thead>
    <tbody>
      ${stacks.map((stack) => {
        const own = ofKind.filter((point) => point.stack === stack);
        const figures = summary(own);
        if (!figures) return nothing;
        return html`<tr class=${stack === state.stack ? "mine" : ""}>
          <th scope="row">${stack}</th>
          <td class="number">${own.length}</td>
          <td class="number">${plain(figures.median)}</td>
          <td class="number">${plain(figures.p95)}</td>
          <td class="number wide-only">${percent(figures.under)}</td>
          <td class="number wide-only">${percent(figures.over)}</td>
        </tr>`;
      })}
    </tbody>
  </table>`;
}

function farthest(shown: Point[]): TemplateResult {
  const worst = [...shown].sort((one, other) => Math.abs(other.error) - Math.abs(one.error));
  return html`<h2>Farthest off</h2>
    <ol class="farthest">
      ${worst.slice(0, FARTHEST).map(
        (point) =>
          html`<li>
            <b>${percent(point.error)}</b>
            <span><a href=${report(point.request)}>${point.id}</a> <small>${point.model}</small></span>
          </li>`,
      )}
    </ol>`;
}

function choice(
  id: string,
  name: string,
  value: string,
  options: [string, string][],
  set: (to: string) => void,
) {
  return html`<div class="field">
    <label for=${id}>${name}</label>
    <select id=${id} @change=${(event: Event) => (set((event.target as HTMLSelectElement).value), draw())}>
      ${options.map(([key, text]) => html`<option value=${key} ?selected=${key === value}>${text}</option>`)}
    </select>
  </div>`;
}

function draw(): void {
  if (!place) return;
  const ofKind = points.filter((point) => point.kind === state.kind);
  const shown = ofKind.filter((point) => state.stack === "" || point.stack === state.stack);
  const stacks = [...new Set(points.map((point) => point.stack))].sort();
  const figures = summary(shown);
  render(
    html`
      <div class="filters">
        ${choice("kind", "Reading", state.kind, Object.entries(KINDS), (to) => (state.kind = to))}
        ${choice(
          "stack",
          "Training stack",
          state.stack,
          [["", "all"], ...stacks.map((stack): [string, string] => [stack, stack])],
          (to) => (state.stack = to),
        )}
      </div>
      <section class="panel" aria-live="polite">
        ${figures
          ? html`<p>
                <b>${shown.length} runs:</b> half are within ${percent(figures.median).replace("+", "")}, 95 %
                within ${percent(figures.p95).replace("+", "")}. Worst: ${percent(figures.under)} and
                ${percent(figures.over)}.
              </p>
              <div class="chart-and-table">
                ${scatter(shown)}
                <div>${byStack(ofKind)} ${farthest(shown)}</div>
              </div>`
          : html`<p>No run of this kind.</p>`}
      </section>
      ${shown.length > 0
        ? html`<section class="panel">
            <details>
              <summary>The same as a table</summary>
              <table class="runs-table">
                <thead>
                  <tr>
                    <th scope="col">Run</th>
                    <th scope="col">Model</th>
                    <th scope="col" class="number">Measured, GiB</th>
                    <th scope="col" class="number">Predicted, GiB</th>
                    <th scope="col" class="number">Error</th>
                  </tr>
                </thead>
                <tbody>
                  ${shown.map(
                    (point) =>
                      html`<tr>
                        <th scope="row">
                          <a href=${report(point.request)}>${point.id}</a>
                          ${point.source ? html`<br /><small>${point.source}</small>` : nothing}
                        </th>
                        <td>${point.model}</td>
                        <td class="number">${sizeExact(point.measured)}</td>
                        <td class="number">${sizeExact(point.predicted)}</td>
                        <td class="number">${percent(point.error)}</td>
                      </tr>`,
                  )}
                </tbody>
              </table>
            </details>
          </section>`
        : nothing}
    `,
    place,
  );
}

try {
  const [lines, records] = await Promise.all(
    [pointsUrl, runsUrl].map((url) => fetch(url).then((answer) => answer.text())),
  );
  points = readPoints(lines ?? "", records ?? "[]");
  place?.replaceChildren();
  draw();
} catch {
  if (place) place.textContent = "The measured runs could not be loaded. Reload the page to try again.";
}
