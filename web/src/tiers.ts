// The same load on every size of GPU, each against its own load line.
import { html, nothing, type TemplateResult } from "lit";
import { segments } from "./bar.ts";
import type { Component, Report, Tier } from "./contract.ts";
import { GIB, sizeShort } from "./format.ts";
import { VERDICTS } from "./names.ts";
import { opened, opener } from "./opening-row.ts";
import { say } from "./words/say.ts";
import { peakComponents } from "./peak.ts";
import type { Actions, View } from "./view.ts";

// Each size is drawn on its own scale, with all load lines in one place: the question is which bars cross it.
const LINE_AT = 66;
const BEFORE = 3;
const AFTER = 4;

/** The sizes near the edge, and the chosen one: those that do not fit by far, or fit by far, say nothing new. */
function nearTheEdge(tiers: Tier[], chosen: string | undefined): Tier[] {
  const firstThatFits = tiers.findIndex((tier) => tier.verdict !== "no");
  const edge = firstThatFits === -1 ? tiers.length : firstThatFits;
  return tiers.filter(
    (tier, index) =>
      (index >= edge - BEFORE && index < edge + AFTER) ||
      (chosen !== undefined && tier.gpus.includes(chosen)),
  );
}

/** vLLM takes a share of each card, and what PyTorch only caches is left out where that is too much. */
function heldOn({ usable, headroom }: Pick<Tier, "usable" | "headroom">, report: Report): Component[] {
  const { device, needed } = report.memory.peak;
  const cached = headroom < 0 ? device - needed : 0;
  const more: Record<string, number> = {
    allocator_slack: -cached,
    engine: usable - headroom - (device - cached),
  };
  return peakComponents(report).map((component) => ({
    ...component,
    bytes: Math.max(0, component.bytes + (more[component.id] ?? 0)),
  }));
}

function row(tier: Tier, report: Report, view: View, actions: Actions): TemplateResult {
  const { id: chosen, ...own } = report.gpu ?? { id: undefined };
  const id = `tier-${tier.gib}`;
  const names = tier.gpus.map((each) => {
    const gpu = view.core.gpus.find((one) => one.id === each);
    return gpu ? `${gpu.name} ${sizeShort(gpu.usable_bytes)}` : each;
  });
  const mine = chosen !== undefined && tier.gpus.includes(chosen);
  // Of its own size the chosen card may have more than the others.
  const { usable, headroom, verdict } = mine ? { ...tier, ...own } : tier;
  const place = (bytes: number) => (LINE_AT * bytes) / Math.max(1, usable);
  const over = headroom < 0;
  return html`
    <tr data-verdict=${verdict} class=${mine ? "mine" : ""}>
      <th scope="row">
        ${opener(id, html`${tier.gib} GiB`, view, actions)}
        ${mine ? html`<span class="visually-hidden">${say("tiers.chosen")}</span>` : nothing}
      </th>
      <td class="bar">
        <svg width="100%" height="22" aria-hidden="true">
          <rect class="hull-body" x="0" y="1" width="${Math.min(100, place(tier.gib * GIB))}%" height="20" />
          ${segments(heldOn({ usable, headroom }, report), place, 4, 14)}
          <line class="load-halo" x1="${LINE_AT}%" x2="${LINE_AT}%" y1="0" y2="22" />
          <line class="load-line" x1="${LINE_AT}%" x2="${LINE_AT}%" y1="0" y2="22" />
        </svg>
      </td>
      <td class="number">${sizeShort(usable)}</td>
      <td class="outcome">
        <span class="sign" aria-hidden="true">${VERDICTS[verdict].sign}</span>
        ${VERDICTS[verdict].word}<span class="by"
          >, ${say(over ? "tiers.over" : "tiers.spare", { size: sizeShort(Math.abs(headroom)) })}</span
        >
      </td>
    </tr>
    ${opened(id, 4, say("tiers.cards", { cards: names.join(", ") }), view)}
  `;
}

export function tiers(view: View, report: Report, actions: Actions): TemplateResult {
  const chosen = report.gpu?.id;
  const shown = view.everyTier ? report.tiers : nearTheEdge(report.tiers, chosen);
  return html`
    <section class="panel for-print" aria-labelledby="tiers-title">
      <h3 id="tiers-title">${say("tiers.title")}</h3>
      <table class="tiers">
        <caption class="caption">
          ${say("tiers.caption")} ${report.gpu ? say("tiers.mine", { gpu: report.gpu.name }) : nothing}
        </caption>
        <thead>
          <tr>
            <th scope="col">${say("tiers.size")}</th>
            <th scope="col">${say("tiers.load")}</th>
            <th scope="col" class="number">${say("tiers.usable")}</th>
            <th scope="col">${say("tiers.verdict")}</th>
          </tr>
        </thead>
        <tbody>
          ${shown.map((tier) => row(tier, report, view, actions))}
        </tbody>
      </table>
      ${shown.length < report.tiers.length || view.everyTier
        ? html`<button
            type="button"
            class="quiet"
            @click=${() => actions.look({ everyTier: !view.everyTier })}
          >
            ${view.everyTier ? say("tiers.fewer") : say("tiers.all", { count: report.tiers.length })}
          </button>`
        : nothing}
    </section>
  `;
}
