// What a link says about the answer that it was made with.
import { GIB } from "./format.ts";
import type { Made } from "./link.ts";
import type { View } from "./view.ts";

/** Nothing while the answer is to another request than the one shown. */
export const madeOf = (view: View): Made | undefined =>
  view.report && view.errors.length === 0 && !view.waiting
    ? { version: view.report.core, total: (view.report.memory.peak.device / GIB).toFixed(2) }
    : undefined;
