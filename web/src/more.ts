// The second module of the core: plans, limits, comparison, and whatever people paste. It is fetched once the first
// answer is on the screen, so that nobody waits for it.
import type { Advice, Comparison, Refusal, Report, Request } from "./contract.ts";
import type { Diagnosis, Imported } from "./paste/found.ts";

export interface More {
  /** A report with the parts that take longer: "timeline", "machines". */
  report(request: Request, parts: string[]): Report | Refusal;
  advise(request: Request): Advice;
  compare(one: Request, other: Request): Comparison;
  read(text: string): Promise<Imported>;
  diagnose(text: string, request: Request | undefined): Diagnosis;
}

let loading: Promise<More> | undefined;

export function loadMore(): Promise<More> {
  loading ??= import("./more-module.ts").then((module) => module.load());
  return loading;
}
