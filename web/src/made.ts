// What a link says about the answer that it was made with.
import type { Report } from "./contract.ts";
import { GIB, withOwnMarks } from "./format.ts";
import type { Made } from "./link.ts";
import type { View } from "./view.ts";
import { say } from "./words/say.ts";

const by = ({ core, memory }: Report): Made => ({
  version: core,
  total: (memory.peak.device / GIB).toFixed(2),
});

/** Nothing while the answer is a quick one, or to another request than the one shown. */
export const madeOf = (view: View): Made | undefined =>
  view.report && view.more && view.errors.length === 0 && !view.waiting ? by(view.report) : undefined;

/** A link keeps the total that its maker saw; a newer core may say otherwise, and then both are said. */
export function changedSince(made: Made | undefined, report: Report): string | undefined {
  const now = by(report);
  if (!made || made.total === now.total) return undefined;
  const total = (of: Made) => `${withOwnMarks(of.total)}\u00a0GiB`;
  return say("link.was", { version: made.version, was: total(made), now: total(now) });
}
