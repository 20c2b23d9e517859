// A request in a few words, for titles of cards and tables.
//
//     describe(report, request)   -> { model: "mistral-7b-v0.3, LoRA, rank 16", batch: "batch 1, 256 tokens" }
import type { Json, Report, Request } from "../contract.ts";
import { taskName } from "../fields.ts";
import { figure } from "../format.ts";
import { BATCH, LENGTH } from "../own.ts";
import { get, isObject } from "../pointer.ts";
import { say } from "../words/say.ts";

const text = (value: Json | undefined) =>
  typeof value === "string" ? value : typeof value === "number" ? figure(value) : JSON.stringify(value);

function modelName(request: Request): string {
  const model = get(request, "/model");
  if (isObject(model)) return typeof model["name"] === "string" ? model["name"] : "a model of your own";
  return text(model) ?? "";
}

/** What the request says, or what the core assumed for it. */
export function setting(report: Report, request: Request, pointer: string): Json | undefined {
  return get(request, pointer) ?? report.assumptions.find((each) => each.pointer === pointer)?.value;
}

export function describe(report: Report, request: Request): { model: string; batch: string } {
  const rank = setting(report, request, "/peft/r");
  const quantized = isObject(get(request, "/quantization"));
  const task = get(request, "/task");
  const of = typeof task === "string" && task !== "sft" ? `${taskName(task)}, ` : "";
  const method = isObject(get(request, "/peft"))
    ? say(quantized ? "card.qlora" : "card.lora", { rank: text(rank) ?? "?" })
    : say("card.full");
  return {
    model: say("card.model", { model: modelName(request), method: `${of}${method}` }),
    batch: say("card.batch", {
      batch: text(setting(report, request, BATCH)) ?? "?",
      length: text(setting(report, request, LENGTH)) ?? "?",
    }),
  };
}
