// The answer in one line, short enough to be read aloud: "Fits the A10G 24GB with 6.1 GiB to spare".
import type { Report } from "./contract.ts";
import { sizeWords } from "./format.ts";
import { say } from "./words/say.ts";

export function headline(report: Report): string {
  const gpu = report.gpu;
  if (!gpu) return say("headline.needs", { size: sizeWords(report.memory.peak.device) });
  return say(`headline.${gpu.verdict}`, { gpu: gpu.name, by: sizeWords(Math.abs(gpu.headroom)) });
}
