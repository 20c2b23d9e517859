// The step over time: components stacked, the peak marked. A slider walks through the points and names what is at
// work; below the chart are the tensors alive there.
import { ticks } from "d3-array";
import { html, nothing, svg, type TemplateResult } from "lit";
import { guard } from "lit/directives/guard.js";
import { aliveAt, BEFORE_STEPS, passing, type Alive } from "./alive.ts";
import { swatch } from "./bar.ts";
import { fill, label, rank } from "./colours.ts";
import type { Report, Timeline, TimelinePoint } from "./contract.ts";
import { significant, size, sizeExact, unit, unitBytes, units } from "./format.ts";
import { instantName } from "./instants.ts";
import { PHONE, type Actions, type View } from "./view.ts";
import { coreWords } from "./words/core-words.ts";
import { language, say, sayCore } from "./words/say.ts";

/** In units of the drawing, which are pixels where there is room. */
const [WIDE, NARROW] = [800, 350];
const HEIGHT = 240;
const [LEFT, RIGHT, TOP, BOTTOM] = [40, 4, 22, 34];

const total = (point: TimelinePoint) => point.bytes.reduce((sum, bytes) => sum + bytes, 0);

interface Span {
  instant: string;
  from: number;
  to: number;
}

/** Neighbouring points of one instant, as one span of the axis. */
function spans(points: TimelinePoint[]): Span[] {
  const found: Span[] = [];
  points.forEach(({ instant }, index) => {
    const last = found.at(-1);
    if (last?.instant === instant) last.to = index + 1;
    else found.push({ instant, from: index, to: index + 1 });
  });
  return found;
}

/** What is there at every point of the steps, by component: weights above all. */
function constantOf({ components, points }: Timeline): number[] {
  const steps = points.filter(({ instant }) => !BEFORE_STEPS.has(instant));
  return components.map((_id, index) =>
    steps.length === 0 ? 0 : Math.min(...steps.map((point) => point.bytes[index] ?? 0)),
  );
}

/** The timeline above what never changes, so that what comes and goes can be seen. */
function changing(timeline: Timeline, constant: number[]): Timeline {
  const points = timeline.points.map((point) => ({
    ...point,
    bytes: point.bytes.map((bytes, index) => Math.max(0, bytes - (constant[index] ?? 0))),
  }));
  return { ...timeline, points };
}

/** The outline of a band of steps, corners only where it changes: `low` and `high` at each point, each as wide as the next begins. */
function outline(low: number[], high: number[], x: (index: number) => number): string {
  const round = (value: number) => Math.round(value * 100) / 100;
  const edge = (heights: number[]) => {
    const corners: string[] = [];
    heights.forEach((height, index) => {
      if (index > 0 && height === heights[index - 1]) return;
      corners.push(`${index === 0 ? "" : `H${round(x(index))}`}V${round(height)}`);
    });
    return corners.join("");
  };
  const end = x(low.length);
  const back: string[] = [];
  for (let index = low.length - 1; index >= 0; --index) {
    if (low[index] === low[index + 1]) continue;
    back.push(`${index === low.length - 1 ? "" : `H${round(x(index + 1))}`}V${round(low[index] ?? 0)}`);
  }
  return `M${round(x(0))} ${round(high[0] ?? 0)}${edge(high)}H${round(end)}${back.join("")}H${round(x(0))}Z`;
}

function chart(timeline: Timeline, usable: number | undefined, width: number): TemplateResult {
  const { points, components } = timeline;
  const highest = Math.max(...points.map(total), 1);
  const ceiling = usable !== undefined && usable < highest * 1.6 ? Math.max(highest, usable) : highest;
  const x = (index: number) => LEFT + ((width - LEFT - RIGHT) * index) / points.length;
  const y = (bytes: number) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * bytes) / (ceiling * 1.04);
  const order = components
    .map((id, index) => ({ id, index }))
    .sort((one, other) => rank(one.id) - rank(other.id));
  const stacked = points.map(() => 0);
  const layers = order.map(({ id, index }) => {
    const low = stacked.map(y);
    points.forEach((point, at) => (stacked[at] = (stacked[at] ?? 0) + (point.bytes[index] ?? 0)));
    return { id, path: outline(low, stacked.map(y), x) };
  });
  const peak = points[timeline.peak];
  return html`<svg
    class="timeline"
    viewBox="0 0 ${width} ${HEIGHT}"
    role="img"
    aria-label=${say("timeline.alt")}
  >
    ${layers.map(({ id, path }) => svg`<path d=${path} fill=${fill(id)}><title>${label(id)}</title></path>`)}
    ${usable !== undefined && usable >= 0 && y(usable) > TOP - 12
      ? svg`<line class="load-line" x1=${LEFT} x2=${width - RIGHT} y1=${y(usable)} y2=${y(usable)} />
          <text class="load-text" x=${width - RIGHT - 4} y=${y(usable) - 7} text-anchor="end">${say("timeline.line")}</text>`
      : nothing}
    ${spans(points).map((span) => {
      const wide = x(span.to) - x(span.from);
      return svg`<line class="axis" x1=${x(span.from)} x2=${x(span.from)} y1=${HEIGHT - BOTTOM} y2=${HEIGHT - BOTTOM + 8} />
        ${wide > 64 ? svg`<text x=${x(span.from) + 4} y=${HEIGHT - BOTTOM + 18}>${instantName(span.instant)}</text>` : nothing}`;
    })}
    <line class="axis" x1=${LEFT} x2=${width - RIGHT} y1=${HEIGHT - BOTTOM} y2=${HEIGHT - BOTTOM} />
    <text class="axis-unit" x=${LEFT - 8} y=${TOP - 10} text-anchor="end">${unit()}</text>
    ${ticks(0, units(ceiling * 1.04), 4).map(
      (
        tick,
      ) => svg`<line class="axis" x1=${LEFT - 5} x2=${LEFT} y1=${y(tick * unitBytes())} y2=${y(tick * unitBytes())} />
        <text x=${LEFT - 8} y=${y(tick * unitBytes()) + 4} text-anchor="end">${significant(tick)}</text>`,
    )}
    ${peak
      ? svg`<path class="peak-mark" d="M${x(timeline.peak + 0.5)} ${y(total(peak)) - 2}l-5 -9h10z" />`
      : nothing}
  </svg>`;
}

function atWork(point: TimelinePoint): string {
  if (point.part === point.instant && point.micro_batch <= 1) return instantName(point.instant);
  const part = sayCore(`part.${point.part}`) ?? point.part;
  const where = point.layer === null ? part : say("timeline.layer", { part, layer: point.layer + 1 });
  return point.micro_batch > 1
    ? say("timeline.later", { instant: instantName(point.instant), where })
    : say("timeline.at", { instant: instantName(point.instant), where });
}

/** The point of the step under the pointer; a finger that scrolls the page does not choose one. */
function pointAt(event: PointerEvent, points: number, width: number): number | undefined {
  const chart = (event.target as Element).closest(".timeline");
  if (!chart || event.pointerType === "touch") return undefined;
  const box = chart.getBoundingClientRect();
  const x = ((event.clientX - box.left) / box.width) * width;
  const index = Math.floor(((x - LEFT) * points) / (width - LEFT - RIGHT));
  return index >= 0 && index < points ? index : undefined;
}

/** How many of the largest tensors are named beside the chart. */
const NAMED = 4;

function readout(timeline: Timeline, index: number): TemplateResult | typeof nothing {
  const point = timeline.points[index];
  if (!point) return nothing;
  const tensors = passing(timeline, index);
  const alive = timeline.components
    .map((id, at) => ({ id, bytes: point.bytes[at] ?? 0 }))
    .filter((each) => each.bytes > 0)
    .sort((one, other) => rank(one.id) - rank(other.id));
  return html`<p class="at-work">
      <b>${atWork(point)}</b>: ${say("timeline.allocated", { size: size(total(point)) })}
    </p>
    <ul class="legend">
      ${alive.map(
        (each) =>
          html`<li>${swatch(each.id)} ${label(each.id)} <span class="amount">${size(each.bytes)}</span></li>`,
      )}
    </ul>
    ${tensors.length === 0
      ? nothing
      : html`<p class="caption">
          ${say("timeline.largest")}
          ${tensors
            .slice(0, NAMED)
            .map(
              ({ component, what, bytes, count }, at) =>
                html`${at > 0 ? ", " : ""}${count > 1 ? `${count} × ` : ""}${size(bytes)}
                ${coreWords(`tensor.${what}`, what)} (${label(component)})`,
            )}
        </p>`}`;
}

function alive(timeline: Timeline, index: number, rows: Alive[]): TemplateResult {
  const point = timeline.points[index];
  return html`<details>
    <summary>
      ${index === timeline.peak || !point
        ? say("timeline.alive", { count: rows.length })
        : say("timeline.alive_at", { count: rows.length, where: atWork(point) })}
    </summary>
    <table>
      <thead>
        <tr>
          <th scope="col">${say("table.component")}</th>
          <th scope="col">${say("timeline.tensor")}</th>
          <th scope="col" class="number">${say("timeline.count")}</th>
          <th scope="col" class="number wide-only">${say("timeline.each")}</th>
          <th scope="col" class="number">${say("table.gib")}</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              <td>${swatch(row.component)} ${label(row.component)}</td>
              <td>${coreWords(`tensor.${row.what}`, row.what)}</td>
              <td class="number">${row.count}</td>
              <td class="number wide-only">${size(row.bytes)}</td>
              <td class="number">${sizeExact(row.bytes * row.count)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </details>`;
}

/** Every instant once, at its highest: the chart as a table. */
function twin(timeline: Timeline): TemplateResult {
  return html`<details>
    <summary>${say("timeline.table")}</summary>
    <table>
      <thead>
        <tr>
          <th scope="col">${say("timeline.moment")}</th>
          <th scope="col" class="number">${say("table.gib")}</th>
        </tr>
      </thead>
      <tbody>
        ${spans(timeline.points).map((span) => {
          const part = timeline.points.slice(span.from, span.to);
          const highest = part.reduce((best, point) => (total(point) > total(best) ? point : best));
          return html`<tr>
            <th scope="row">${atWork(highest)}</th>
            <td class="number">${sizeExact(total(highest))}</td>
          </tr>`;
        })}
      </tbody>
    </table>
  </details>`;
}

export function timeline(view: View, report: Report, actions: Actions): TemplateResult | typeof nothing {
  const drawn = view.more?.memory.timeline;
  if (!drawn || drawn.points.length === 0) return nothing;
  const index = Math.min(view.moment ?? drawn.peak, drawn.points.length - 1);
  const constant = constantOf(drawn);
  const always = constant.reduce((sum, bytes) => sum + bytes, 0);
  // A block of weights with a thin line on it shows nothing.
  const whole = view.wholeTimeline ?? always < 0.6 * Math.max(...drawn.points.map(total));
  const usable = report.gpu ? report.gpu.usable - (whole ? 0 : always) : undefined;
  const tensors = aliveAt(drawn, index);
  const width = window.matchMedia(PHONE).matches ? NARROW : WIDE;
  return html`<section class="panel" aria-labelledby="timeline-title">
    <h3 id="timeline-title">${say("timeline.title")}</h3>
    <p class="caption">
      ${say("timeline.caption")} ${whole ? nothing : say("timeline.above", { size: size(always) })}
      ${usable !== undefined && usable < 0 ? say("timeline.beyond") : nothing}
    </p>
    <label class="choice">
      <input
        type="checkbox"
        .checked=${!whole}
        @change=${(event: Event) =>
          actions.look({ wholeTimeline: !(event.target as HTMLInputElement).checked })}
      />
      ${say("timeline.changing")}
    </label>
    <div
      class="timeline-frame"
      @pointermove=${(event: PointerEvent) => {
        const at = pointAt(event, drawn.points.length, width);
        if (at !== undefined && at !== index) actions.look({ moment: at });
      }}
    >
      ${guard([drawn, usable, whole, language(), unit(), width], () =>
        chart(whole ? drawn : changing(drawn, constant), usable, width),
      )}
      <input
        type="range"
        class="walk"
        min="0"
        max=${drawn.points.length - 1}
        .value=${String(index)}
        aria-label=${say("timeline.walk")}
        aria-valuetext=${drawn.points[index] ? atWork(drawn.points[index]) : ""}
        @input=${(event: Event) => actions.look({ moment: Number((event.target as HTMLInputElement).value) })}
      />
    </div>
    ${readout(drawn, index)} ${alive(drawn, index, tensors)} ${twin(drawn)}
  </section>`;
}
