// The instant at which the memory is highest.
import type { Component, Instant, Report } from "./contract.ts";
import { sizeShort } from "./format.ts";

export const peakInstant = (report: Report): Instant | undefined =>
  report.memory.instants.find((instant) => instant.id === report.memory.peak.instant);

export const peakComponents = (report: Report): Component[] => peakInstant(report)?.components ?? [];

/** What of the peak PyTorch only caches, and gives back before it fails: the verdict leaves it out. 0 where both read the same. */
export function cachedAtPeak({ gpu, memory: { peak } }: Report): number {
  if (!gpu) return 0;
  const needed = gpu.usable - gpu.headroom;
  return sizeShort(needed) === sizeShort(peak.device) ? 0 : Math.max(0, peak.device - needed);
}
