// import { load } from "plimsoll-core";
// const { report } = await load();
// const answer = report({ model: "mistral-7b-v0.3", peft: { r: 16 }, hardware: { gpu: "a10g" } });
// if (answer.ok) console.log(answer.memory.peak.device, answer.gpu?.verdict);
import type { Advice, Comparison, GpuPreset, ModelPreset, Refusal, Report, Request } from "./contract.js";

export type * from "./contract.js";

/** The small module: reports alone, with the models of the documented cases and those that bring a config.json. */
export interface First {
  /** Version of the core, as in the report's `core`. */
  version: string;
  /** A bad request is a normal result: `ok` is false and `errors` says what is wrong. */
  report(request: Request): Report | Refusal;
  models(): ModelPreset[];
  gpus(): GpuPreset[];
}

export interface Plimsoll extends First {
  /** With the parts that `want` names: "timeline", "machines", "limits". */
  report(request: Request): Report | Refusal;
  /** With `want: ["rent"]` also which machine to rent. */
  advise(request: Request): Advice;
  compare(one: Request, other: Request): Comparison;
  diagnose(text: string, request?: Request): unknown;
}

export type More = Plimsoll;

export function load(): Promise<Plimsoll>;
export function loadFirst(): Promise<First>;
/** The same as load(). */
export function loadMore(): Promise<Plimsoll>;
