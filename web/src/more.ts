// The second module of the core: all models, plans, limits, comparison, and whatever people paste. It is fetched once the first
// answer is on the screen, so that nobody waits for it, and works in a thread of its own, so that no key press does.
import type { Advice, Comparison, ModelPreset, Refusal, Report, Request, Usual } from "./contract.ts";
import { once } from "./presets.ts";
import type { Diagnosis, Exported, Format, Imported, Patched } from "./paste/found.ts";

export interface More {
  /** The report alone, of a request as text. */
  answer(request: string): Promise<Report | Refusal>;
  /** A report with the parts that take longer: "timeline", "machines". */
  report(request: Request, parts: string[]): Promise<Report | Refusal>;
  advise(request: Request): Promise<Advice>;
  compare(one: Request, other: Request): Promise<Comparison>;
  /** Texts of one run: its script, its accelerate YAML, the cells of its notebook. */
  read(texts: string[]): Promise<Imported>;
  /** `answers`: to the questions of earlier diagnoses of this text, "when=save". */
  diagnose(text: string, request: Request | undefined, answers: string): Promise<Diagnosis>;
  /** The pasted texts with the difference of two requests written into them: what the first has no words for may be another's. */
  patch(texts: string[], before: Request, after: Request): Promise<Patched[]>;
  formats(): Promise<Format[]>;
  exportAs(request: Request, format: string): Promise<Exported>;
  /** The report of a request that is not the page's own. */
  weigh(request: Request): Promise<Report | Refusal>;
  models(): Promise<ModelPreset[]>;
  /** What nobody trains without and a request leaves open. */
  usual(request: Request): Promise<Usual[]>;
}

/** What a call fails with when the same was asked anew before its turn came: no failure to anybody who has asked anew. */
export const isSuperseded = (error: unknown): boolean =>
  error instanceof DOMException && error.name === "AbortError";

export const loadMore = once(() => import("./more-thread.ts").then((module) => module.load()));
