// Everything below the hull, and what opens from a figure: fetched once the first answer is on the screen.
import "./styles/rest.css";
import "./styles/print.css";
import "./words/add-rest.ts";
import { html, nothing, type TemplateResult } from "lit";
import { compare } from "./advice/compare.ts";
import { limits } from "./advice/limits.ts";
import { plans } from "./advice/plans.ts";
import { aliveIn } from "./alive.ts";
import { breakdown } from "./breakdown.ts";
import { card } from "./card.ts";
import { componentWhy } from "./component-why.ts";
import type { Report } from "./contract.ts";
import { entries } from "./entries.ts";
import { figures } from "./figures.ts";
import { find } from "./find.ts";
import { folds } from "./folds.ts";
import { frame } from "./frame.ts";
import { gallery } from "./gallery.ts";
import { instants } from "./instants.ts";
import { lock } from "./lock.ts";
import { machines } from "./machines.ts";
import { notes } from "./notes.ts";
import { options } from "./options.ts";
import { preferences, updateNotice } from "./preferences.ts";
import { repairs } from "./repairs.ts";
import { sharePanel } from "./share/share-panel.ts";
import { tiers } from "./tiers.ts";
import { timeline } from "./timeline.ts";
import { topics } from "./topics.ts";
import type { Actions, View } from "./view.ts";
import { coreWords } from "./words/core-words.ts";
import { say, type Word } from "./words/say.ts";

const PARTS: [id: string, word: Word][] = [
  ["plans-title", "jump.plans"],
  ["timeline-title", "jump.timeline"],
  ["tiers-title", "jump.tiers"],
  ["limits-title", "jump.limits"],
  ["machines-title", "jump.machines"],
  ["breakdown-title", "jump.breakdown"],
  ["compare-title", "jump.compare"],
  ["share-title", "jump.share"],
];

/** Buttons, because the part of the address after # is the request. */
function jumps(): TemplateResult {
  const go = (id: string) => {
    const heading = document.getElementById(id);
    heading?.setAttribute("tabindex", "-1");
    heading?.focus({ preventScroll: true });
    heading?.scrollIntoView({ block: "start" });
  };
  return html`<nav class="jump" aria-label=${say("jump.label")}>
    ${PARTS.map(
      ([id, word]) => html`<button type="button" class="quiet" @click=${() => go(id)}>${say(word)}</button>`,
    )}
  </nav>`;
}

type Part = (view: View, report: Report, actions: Actions) => TemplateResult | typeof nothing;

/** In the order of the page. They are drawn one after another, so that none keeps a key press waiting for all. */
const parts: Part[] = [
  (view, report, actions) => html`${jumps()} ${plans(view, report, actions)}`,
  figures,
  timeline,
  tiers,
  limits,
  machines,
  instants,
  breakdown,
  (view, _report, actions) => compare(view, actions),
  (_view, report) => notes(report),
  sharePanel,
];

export const rest = {
  parts,
  aliveIn,
  card,
  componentWhy,
  coreWords,
  entries,
  find,
  folds,
  frame,
  gallery,
  lock,
  options,
  repairs,
  preferences,
  topics,
  updateNotice,
};
export type Rest = typeof rest;
