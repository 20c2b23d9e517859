// Stacked bars of components, drawn the same wherever they appear.
import { html, nothing, svg, type TemplateResult } from "lit";
import type { Component } from "./contract.ts";
import { fill, label, rank } from "./colours.ts";
import { size } from "./format.ts";

/** In the order of stacking, so that a component keeps its place from one answer to the next. */
export const stacked = (components: Component[]): Component[] =>
  components.filter((component) => component.bytes > 0).sort((one, other) => rank(one.id) - rank(other.id));

// A gap sets off segments that are wide enough to spare it; slivers lie side by side and keep their colour.
const WORTH_A_GAP = 1;

/** Segments of a stacked bar; `place` turns bytes into percent of the width. */
export function segments(
  components: Component[],
  place: (bytes: number) => number,
  y: number,
  height: number,
): TemplateResult {
  let from = 0;
  const drawn = stacked(components).map((component) => {
    const start = Math.min(100, place(from));
    from += component.bytes;
    return { component, start, width: Math.min(100, place(from)) - start };
  });
  return svg`
    ${drawn.map(
      ({ component, start, width }) => svg`
        <rect x="${start}%" y=${y} width="${width}%" height=${height} fill=${fill(component.id)}>
          <title>${label(component.id)}: ${size(component.bytes)}</title>
        </rect>`,
    )}
    ${drawn.slice(1).map(({ start, width }, index) => {
      // The gap is cut out of the wider neighbour.
      const left = drawn[index]?.width ?? 0;
      if (Math.max(left, width) < WORTH_A_GAP) return nothing;
      return svg`<line class="gap" x1="${start}%" x2="${start}%" y1=${y} y2=${y + height}
        transform="translate(${left > width ? -1 : 1} 0)" />`;
    })}
  `;
}

export function swatch(id: string): TemplateResult {
  return html`<svg class="swatch" width="12" height="12" aria-hidden="true">
    <rect width="12" height="12" rx="2" fill=${fill(id)} />
  </svg>`;
}
