// What would make the core accept a request that it refuses: values that it allows, names that are near, the default. Each is
// tried before it is offered.
import type { CoreError, Json } from "./contract.ts";
import { entries } from "./entries.ts";
import { find } from "./find.ts";
import { ALL_FIELDS } from "./fields.ts";
import { accepts } from "./lists.ts";
import type { Edit } from "./own.ts";
import { get, plain, put } from "./pointer.ts";
import { readNumber } from "./read-number.ts";
import type { View } from "./view.ts";
import { say } from "./words/say.ts";

export interface Repair {
  label: string;
  edits: Edit[];
}

const MOST = 4;

/** Letters that two words share, in order: enough to tell "adam_8bit" from others. */
function alike(one: string, other: string): number {
  let at = 0;
  for (const letter of other) if (letter === one[at]) at += 1;
  return at / Math.max(one.length, other.length);
}

function named(error: CoreError, value: Json | undefined, view: View): string[] {
  const text = typeof value === "string" ? value : "";
  if (error.pointer === "/model") return find(entries.models(view.core), text).map((each) => each.value);
  if (error.pointer === "/hardware/gpu") return find(entries.gpus(view.core), text).map((each) => each.value);
  if (error.code !== "unknown_value") return [];
  const words = error.allowed?.split(", ") ?? [];
  return words.sort((left, right) => alike(text, right) - alike(text, left));
}

/** "1 to 65536": the end that is nearer. */
function nearest(error: CoreError, value: Json | undefined): number[] {
  const ends =
    /^([\d.e+-]+) to ([\d.e+-]+)/
      .exec(error.allowed ?? "")
      ?.slice(1)
      .map(Number) ?? [];
  const [low, high] = ends;
  if (low === undefined || high === undefined || typeof value !== "number") return [];
  return [value < low ? low : high];
}

export function repairs(error: CoreError, view: View): Repair[] {
  const { pointer } = error;
  const value = get(view.request, pointer);
  const number = typeof value === "string" ? readNumber(value, pointer) : value;
  const values: Json[] = [...named(error, value, view).slice(0, MOST), ...nearest(error, value)];
  if (typeof number === "number") values.push(Math.max(1, Math.round(Math.abs(number))));
  const offered: Repair[] = values.map((to) => ({ label: plain(to), edits: [{ pointer, value: to }] }));
  if (value !== undefined && pointer !== "/model") {
    const known = ALL_FIELDS.some((field) => field.pointer === pointer);
    const label = say(known ? "repair.default" : "repair.remove");
    offered.push({ label, edits: [{ pointer, value: undefined }] });
  }
  const works = ({ edits }: Repair): boolean => {
    const next = edits.reduce((under, edit) => put(under, edit.pointer, edit.value), view.request);
    // Without a model nothing is accepted, whatever the repair is worth.
    if (pointer === "/model" || get(view.request, "/model") === undefined) return true;
    return accepts(view.core, next) || view.errors.length > 1;
  };
  const seen = new Set<string>();
  return offered
    .filter(({ label }) => !seen.has(label) && seen.add(label))
    .filter(works)
    .slice(0, MOST);
}
