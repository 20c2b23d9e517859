// Which tensors are alive at a point of the timeline.
import type { Timeline } from "./contract.ts";

export type Alive = Timeline["alive"][number];

/** How many of these tensors are alive at a point: `counts` is pairs of a point and the number from there on. */
function countAt(counts: number[], point: number): number {
  let count = 0;
  for (let at = 0; at < counts.length && (counts[at] ?? 0) <= point; at += 2) count = counts[at + 1] ?? 0;
  return count;
}

/** Largest sum first. */
export const aliveAt = ({ tensors }: Timeline, point: number): Alive[] =>
  tensors
    .map((row) => ({ ...row, count: countAt(row.counts, point) }))
    .filter((row) => row.count > 0)
    .sort((one, other) => other.bytes * other.count - one.bytes * one.count);

export const BEFORE_STEPS = new Set(["load", "prepare"]);

/** Those of a point that are not there all the time: what is of interest beside weights and states. */
export function passing(timeline: Timeline, point: number): Alive[] {
  const { points, tensors } = timeline;
  const first = points.findIndex(({ instant }) => !BEFORE_STEPS.has(instant));
  return tensors
    .map((row) => {
      const later = row.counts.filter(
        (_count, index) => index % 2 === 1 && (row.counts[index - 1] ?? 0) > first,
      );
      const always = Math.min(countAt(row.counts, first), ...later);
      return { ...row, count: countAt(row.counts, point) - always };
    })
    .filter((row) => row.count > 0)
    .sort((one, other) => other.bytes * other.count - one.bytes * one.count);
}

/** The tensors at the highest point of an instant; none where the timeline does not draw it. */
export function aliveIn(timeline: Timeline | undefined, instant: string): Alive[] {
  const { points = [] } = timeline ?? {};
  const sum = (index: number) => points[index]?.bytes.reduce((all, bytes) => all + bytes, 0) ?? 0;
  const highest = points.reduce(
    (best, point, index) =>
      point.instant === instant && (best === -1 || sum(index) > sum(best)) ? index : best,
    -1,
  );
  return timeline && highest !== -1 ? aliveAt(timeline, highest) : [];
}
