// Names of the core's ids, as people say them.
import type { Verdict } from "./contract.ts";

const INSTANTS: Record<string, string> = {
  load: "Load",
  prepare: "Prepare",
  forward: "Forward",
  loss: "Loss",
  backward: "Backward",
  optimizer_step_first: "Optimizer step, first",
  optimizer_step: "Optimizer step",
  eval: "Evaluation",
  generate: "Generation",
  save: "Save",
  merge: "Merge",
};

export const instantName = (id: string) => INSTANTS[id] ?? id.replaceAll("_", " ");

const PHRASES: Record<string, string> = {
  load: "loading of the model",
  prepare: "preparation of the model",
  forward: "forward pass",
  loss: "loss",
  backward: "backward pass",
  optimizer_step_first: "first optimizer step",
  optimizer_step: "optimizer step",
};

/** For the middle of a sentence: "the highest point is in the first optimizer step". */
export const instantPhrase = (id: string) => PHRASES[id] ?? instantName(id).toLowerCase();

export const VERDICTS: Record<Verdict, { word: string; sign: string }> = {
  fits: { word: "fits", sign: "✓" },
  tight: { word: "tight", sign: "≈" },
  no: { word: "does not fit", sign: "✕" },
};
