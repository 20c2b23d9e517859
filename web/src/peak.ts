// The instant at which the memory is highest.
import type { Component, Instant, Report } from "./contract.ts";

export const peakInstant = (report: Report): Instant | undefined =>
  report.memory.instants.find((instant) => instant.id === report.memory.peak.instant);

export const peakComponents = (report: Report): Component[] => peakInstant(report)?.components ?? [];
