// The output of plimsoll_accuracy --each beside the records it was made from.
import type { Request } from "../contract.ts";

export interface Point {
  id: string;
  source: string;
  model: string;
  stack: string;
  kind: string;
  measured: number;
  predicted: number;
  /** Predicted over measured, less one. */
  error: number;
  request: Request;
}

interface Line {
  id: string;
  refused: string;
  readings?: { kind: string; measured: number; predicted: number; error: number }[];
  request: Request;
}

interface Measured {
  id: string;
  source: string;
  model: string;
}

export function readPoints(lines: string, records: string): Point[] {
  const byId = new Map((JSON.parse(records) as Measured[]).map((record) => [record.id, record]));
  return lines
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line.refused === "")
    .flatMap((line) =>
      (line.readings ?? []).map((reading) => ({
        id: line.id,
        source: byId.get(line.id)?.source ?? "",
        model: byId.get(line.id)?.model ?? "",
        stack: String(line.request["stack"] ?? "hf"),
        ...reading,
        request: line.request,
      })),
    );
}

/** Undefined without points. The 95th percentile is the smallest value that 95 % do not exceed. */
export function summary(
  points: Point[],
): { median: number; p95: number; under: number; over: number } | undefined {
  const sizes = points.map((point) => Math.abs(point.error)).sort((one, other) => one - other);
  if (sizes.length === 0) return undefined;
  const at = (index: number) => sizes[Math.min(sizes.length - 1, Math.max(0, index))] ?? 0;
  const half = sizes.length / 2;
  return {
    median: sizes.length % 2 === 1 ? at(Math.floor(half)) : (at(half - 1) + at(half)) / 2,
    p95: at(Math.ceil(0.95 * sizes.length) - 1),
    under: Math.min(0, ...points.map((point) => point.error)),
    over: Math.max(0, ...points.map((point) => point.error)),
  };
}
