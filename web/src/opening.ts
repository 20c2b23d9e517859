// The opening case is answered whole when the site is built: the page comes with what the whole report says otherwise than the
// quick one, so that no figure of the first view changes while the second module is on its way.
import type { Json, Report } from "./contract.ts";
import { isObject } from "./pointer.ts";

/** By pointer. */
export type Difference = [pointer: string, value: Json][];

type Tree = Record<string, Json>;

const branches = (value: Json | undefined): Tree | undefined =>
  Array.isArray(value) ? Object.fromEntries(value.entries()) : isObject(value) ? value : undefined;

/** What of `whole` differs from `quick`; a list of another length differs as one. */
export function difference(quick: Json | undefined, whole: Json, at = ""): Difference {
  if (quick === whole) return [];
  const [one, other] = [branches(quick), branches(whole)];
  const alike = one && other && `${Object.keys(one)}` === `${Object.keys(other)}`;
  if (!alike) return [[at, whole]];
  return Object.entries(other).flatMap(([key, value]) => difference(one[key], value, `${at}/${key}`));
}

export function amended(quick: Report, changes: Difference): Report {
  const report = structuredClone(quick);
  for (const [pointer, value] of changes) {
    const keys = pointer.split("/").slice(1);
    const last = keys.pop() ?? "";
    let at = report as unknown as Tree;
    for (const key of keys) at = at[key] as Tree;
    at[last] = value;
  }
  return report;
}
