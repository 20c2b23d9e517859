// The second module of the core: all models, plans, limits, comparison, and whatever people paste. It is fetched once the first
// answer is on the screen, so that nobody waits for it.
import type { Advice, Comparison, ModelPreset, Refusal, Report, Request } from "./contract.ts";
import { once } from "./presets.ts";
import type { Diagnosis, Exported, Format, Imported, Patched } from "./paste/found.ts";

export interface More {
  models: ModelPreset[];
  /** The report alone, of a request as text. */
  answer(request: string): Report | Refusal;
  /** A report with the parts that take longer: "timeline", "machines". */
  report(request: Request, parts: string[]): Report | Refusal;
  advise(request: Request): Advice;
  compare(one: Request, other: Request): Comparison;
  read(text: string): Promise<Imported>;
  diagnose(text: string, request: Request | undefined): Diagnosis;
  /** The pasted text with the difference of two requests written into it. */
  patch(text: string, before: Request, after: Request): Promise<Patched>;
  formats(): Format[];
  exportAs(request: Request, format: string): Exported;
}

export const loadMore = once(() => import("./more-module.ts").then((module) => module.load()));
