// What every part of the page is drawn from, and what it may ask for.
import type { Core } from "./core.ts";
import { FIRST_TAB } from "./link.ts";
import type { FigureId } from "./figures.ts";
import type { Unit } from "./format.ts";
import type { Rest } from "./rest.ts";
import type { Theme } from "./theme.ts";
import type { Advice, Comparison, CoreError, Json, Report, Request, Scenario } from "./contract.ts";
import type { Edit } from "./own.ts";
import type { Failed, Used } from "./paste/used.ts";

export type { Edit };

/** Where charts are drawn narrow; the style sheets have the same width. */
export const PHONE = "(max-width: 520px)";

export interface View {
  core: Core;
  /** What the form and the link say. */
  request: Request;
  /** What the person typed where it does not read back the same: "1.0" on the way to "1.05". By pointer. */
  typed: ReadonlyMap<string, string>;
  /** The text of the request editor while it is not the request written out. */
  draft: string | undefined;
  /** The last request that the core answered. */
  answered: Request | undefined;
  /** The answer to the request: none while the core refuses it, no card's while essentials are not said. */
  report: Report | undefined;
  /** The same report with its slower parts, once they have been asked for; undefined until then. */
  more: Report | undefined;
  /** Plans, limits and habits for the request, once they have been worked out. */
  advice: Advice | undefined;
  /** The run that ran out of memory, as a pasted text says it; changed by nothing since. */
  died: Request | undefined;
  /** The request that the limits and the rent of `advice` are for, which follow its plans. */
  limited: Request | undefined;
  /** The request that `advice` is for: until the next one is there, it stays. */
  advised: Request | undefined;
  /** The size whose plans are shown; that of the chosen GPU when undefined. */
  planTier: number | undefined;
  /** The request before the last plan was applied, or before something gave way to a choice; and what was done. */
  undo: Request | undefined;
  done: string | undefined;
  /** What the page itself has put into the request, where nobody has said it, by pointer. */
  assumed: string[];
  /** What was chosen last, by pointer: what does not go with it gives way. */
  chosen: string[];
  /** What the card has, by an error message that names none. */
  capacity: number | undefined;
  /** How many processes it shows. */
  ranks: number;
  /** The model that was taken for one of which only the size was said. */
  like: string | undefined;
  /** What is known of its micro-batch by the size that failed. */
  failed: Failed | undefined;
  /** How many texts had become the request before this one did: the box shows the text that belongs to it. */
  pasted: number;
  /** The request kept for comparison, and how this one differs. */
  kept: Request | undefined;
  comparison: Comparison | undefined;
  /** Which point of the timeline is read out; the peak when undefined. */
  moment: number | undefined;
  /** Whether the timeline starts at zero, not at what is there all the time; by what is worth seeing when undefined. */
  wholeTimeline: boolean | undefined;
  everyMachine: boolean;
  /** What the core has against the request as it stands. */
  errors: CoreError[];
  /** The answer to the request is on its way; `report`, if there is one, is that to an earlier one of the same model. */
  waiting: boolean;
  /** A link that could not be read. */
  notice: string | undefined;
  /** The scenario that the request is, or began as where a change of it was tried. */
  origin: Scenario | undefined;
  /** The instant whose components are listed; the peak when undefined. */
  instant: string | undefined;
  everyTier: boolean;
  /** Which part of the answer is open. */
  tab: string;
  /** The figure of the verdict, and the component of the hull, that are open. */
  figure: FigureId | undefined;
  component: string | undefined;
  /** The row of a table that is open: "tier-24", "machine-3". */
  row: string | undefined;
  /** The parts below the hull, once they have been fetched. */
  rest: Rest | undefined;
  /** What has just been done for the person, and the text of it where it must be copied by hand. */
  told: { message: string; text?: string } | undefined;
  /** Changes to a newer version that is ready. */
  update: (() => void) | undefined;
  /** Everything has just been stored for the first time. */
  offline: boolean;
  theme: Theme;
}

/** Before anything has been asked. */
export const firstView = (core: Core, theme: Theme): View => ({
  core,
  request: {},
  typed: new Map(),
  draft: undefined,
  answered: undefined,
  report: undefined,
  errors: [],
  waiting: false,
  notice: undefined,
  origin: undefined,
  instant: undefined,
  everyTier: false,
  tab: FIRST_TAB,
  more: undefined,
  advice: undefined,
  advised: undefined,
  limited: undefined,
  died: undefined,
  planTier: undefined,
  undo: undefined,
  done: undefined,
  assumed: [],
  chosen: [],
  capacity: undefined,
  ranks: 0,
  like: undefined,
  failed: undefined,
  pasted: 0,
  kept: undefined,
  comparison: undefined,
  moment: undefined,
  wholeTimeline: undefined,
  everyMachine: false,
  told: undefined,
  update: undefined,
  offline: false,
  theme,
  figure: undefined,
  component: undefined,
  row: undefined,
  rest: undefined,
});

/** A step can be undone with the Back button; a tweak only changes the address. */
export type How = "step" | "tweak";

/** What of the view is nobody's request. */
export type Look = Partial<
  Pick<
    View,
    | "instant"
    | "figure"
    | "component"
    | "row"
    | "everyTier"
    | "everyMachine"
    | "moment"
    | "wholeTimeline"
    | "planTier"
    | "kept"
    | "comparison"
    | "update"
    | "failed"
  >
>;

export interface Actions {
  edit(edits: Edit[], how: How, typed?: [pointer: string, text: string]): void;
  /** To a question of the card, or what goes with what it mends; `open`: what is left to what is usual. The next question has the focus then. */
  answer(edits: Edit[], open?: string[]): void;
  editText(text: string): void;
  open(scenario: Scenario): void;
  replace(used: Used): void;
  /** Goes on from the example as it is. */
  adopt(): void;
  /** Where the form is a sheet. */
  openForm(): void;
  /** Changes how the answer is looked at. */
  look(changes: Look): void;
  /** Sets what a plan sets, as one step that can be undone. */
  apply(edits: Edit[], what: string, stay?: boolean): void;
  chooseTab(tab: string): void;
  undo(): void;
  keep(): void;
  swap(): void;
  goTo(pointer: string): void;
  tell(message: string, text?: string): void;
  /** What the page shows now. A part that is still to be drawn anew knows what it showed before. */
  now(): View | undefined;
  wearTheme(theme: Theme): void;
  measureIn(unit: Unit): void;
  speakLanguage(id: string): void;
  /** What a method's settings were when it was last left, so that coming back restores them. */
  shelved(section: "peft" | "quantization"): Json | undefined;
}
