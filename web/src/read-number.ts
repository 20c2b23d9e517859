// A number as people type it.
import type { Json } from "./contract.ts";
import { withPoint } from "./format.ts";

const TIMES: Record<string, number> = { k: 1000, m: 1e6 };

/** Between thousands; the point, as German has it, of what is counted: else it stands before tenths. */
const GROUPED = /^\d{1,3}([,_\s]\d{3})+$/;
const COUNTED = /^[1-9]\d{0,2}([.,_\s]\d{3})+$/;

/**
 * "4096", "8,192", "1e4", "4k": a number where it is one; otherwise the text itself, for the core to refuse in words. `type`: as
 * the core declares it, "count" or "number".
 */
export function readNumber(text: string, pointer: string, type = "number"): Json | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  const [, figures = trimmed, letter = ""] = /^(.*\d) ?([km])$/i.exec(trimmed) ?? [];
  const digits = (type === "count" ? COUNTED : GROUPED).test(figures)
    ? figures.replace(/[.,_\s]/g, "")
    : withPoint(figures);
  // Four thousand tokens are 4096.
  const kilo =
    letter.toLowerCase() === "k" && pointer.endsWith("length") ? 1024 : TIMES[letter.toLowerCase()];
  const value = Number(digits) * (kilo ?? 1);
  return /^[-+]?[\d.]/.test(digits) && Number.isFinite(value) ? value : trimmed;
}
