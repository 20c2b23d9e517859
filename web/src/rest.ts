// Everything in the tabs below the hull, and what opens from a figure: fetched once the first answer is on the screen.
import "./styles/advice.css";
import "./styles/tables.css";
import "./styles/found.css";
import "./styles/controls.css";
import "./styles/print.css";
import "./words/add-rest.ts";
import { nothing, type TemplateResult } from "lit";
import { compare } from "./advice/compare.ts";
import { limits } from "./advice/limits.ts";
import { plans } from "./advice/plans.ts";
import { aliveIn } from "./alive.ts";
import { Below } from "./below.ts";
import { breakdown } from "./breakdown.ts";
import { card } from "./card.ts";
import { componentWhy } from "./component-why.ts";
import type { Report } from "./contract.ts";
import { entries } from "./entries.ts";
import { figures } from "./figures.ts";
import { counted, find } from "./find.ts";
import { folds } from "./folds.ts";
import { frame } from "./frame.ts";
import { gallery } from "./gallery.ts";
import { hub } from "./hub.ts";
import { instants } from "./instants.ts";
import { lock } from "./lock.ts";
import { machines } from "./machines.ts";
import { rent } from "./rent.ts";
import { notes } from "./notes.ts";
import { options } from "./options.ts";
import { preferences, updateNotice } from "./preferences.ts";
import { repairs } from "./repairs.ts";
import { sharePanel } from "./share/share-panel.ts";
import type { Tab } from "./tabs.ts";
import { tiers } from "./tiers.ts";
import { timeline } from "./timeline.ts";
import { topics } from "./topics.ts";
import type { Actions, View } from "./view.ts";
import { coreWords } from "./words/core-words.ts";

type Part = (view: View, report: Report, actions: Actions) => TemplateResult | typeof nothing;

/** In the order of the tabs. */
export interface Placed {
  tab: Tab;
  part: Part;
}

const parts: Placed[] = [
  { tab: "fixes", part: plans },
  // Not before the plans above, which would push it down.
  { tab: "fixes", part: (view, report) => (view.advice ? notes(report, view.advice) : nothing) },
  { tab: "timeline", part: timeline },
  { tab: "gpus", part: tiers },
  { tab: "limits", part: limits },
  { tab: "cost", part: rent },
  { tab: "cost", part: machines },
  { tab: "breakdown", part: figures },
  { tab: "breakdown", part: instants },
  { tab: "breakdown", part: breakdown },
  { tab: "compare", part: (view, _report, actions) => compare(view, actions) },
  { tab: "share", part: sharePanel },
];

export const rest = {
  Below,
  parts,
  aliveIn,
  card,
  componentWhy,
  coreWords,
  entries,
  counted,
  find,
  folds,
  frame,
  gallery,
  hub,
  lock,
  options,
  repairs,
  preferences,
  topics,
  updateNotice,
};
export type Rest = typeof rest;
