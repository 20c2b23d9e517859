// The answer in one line, short enough to be read aloud: "Fits the A10G 24GB with 6.1 GiB to spare".
import type { Report, Request } from "./contract.ts";
import { sizeWords } from "./format.ts";
import { get } from "./pointer.ts";
import { say } from "./words/say.ts";

const STRATEGIES: Record<string, string> = {
  ddp: "DDP",
  fsdp: "FSDP",
  fsdp2: "FSDP2",
  zero0: "ZeRO-0",
  zero1: "ZeRO-1",
  zero2: "ZeRO-2",
  zero3: "ZeRO-3",
};

/** "the A10G 24GB", "2 × RTX 3090 24GB, FSDP". */
function cards(name: string, report: Report, request: Request): string {
  const { gpus } = report.memory;
  if (gpus <= 1) return say("headline.one", { gpu: name });
  const strategy = STRATEGIES[String(get(request, "/parallel/strategy"))];
  return `${gpus}\u00a0× ${name}${strategy ? `, ${strategy}` : ""}`;
}

export function headline(report: Report | undefined, request: Request = {}): string {
  if (!report) return say("headline.ask");
  const gpu = report.gpu;
  const { gpus, peak } = report.memory;
  if (!gpu) return say(gpus > 1 ? "headline.needs_each" : "headline.needs", { size: sizeWords(peak.device) });
  const values = { gpu: cards(gpu.name, report, request), by: sizeWords(Math.abs(gpu.headroom)) };
  return say(`headline.${gpu.verdict}`, values);
}
