// Types of build/wasm/plimsoll_more.js, the slower half of the core: plans, comparison, and whatever people paste. Text in, JSON
// text out. It has all of the first module too, so that what it prices and what it reports are one.
//
//     import create_more from "plimsoll_more.js";
//     const more = await create_more({ wasmBinary });
//     more.add_presets(first + rest);
//     const diagnosis = JSON.parse(more.diagnose(errorText, "", ""));
import type { Options, Plimsoll } from "./plimsoll";

export interface More extends Plimsoll {
  /** The report with the parts that "want" names: "plans", "limits", "machines", "timeline" (core/report/timeline.h). */
  report(request: string): string;
  /** Plans for the chosen GPU and for every size, limits, what does not help (core/report/advice.h). */
  advise(request: string): string;
  /** Two requests side by side: what each difference is worth (core/report/compare.h). */
  compare(one: string, other: string): string;
  /** A request as a file of another tool: {"ok", "format", "text", "left_out", "errors"}. */
  export_text(request: string, format: string): string;
  /** The formats: {"formats": [{"id", "name", "reads", "writes", "language"}]}; those of core/report/handout.h are only written. */
  formats(): string;
  /**
   * A pasted failure (error lines, a traceback, nvidia-smi, all in one) explained: the figures, the causes by
   * likelihood, the tensor that failed. `request` is the run's request, even half of one, or ""; `phase` is what
   * the person says of the moment ("load", "loss", ...), or "". After it, or alone, answers to the "question" of an
   * earlier diagnosis: "when=save cards=copies".
   */
  diagnose(text: string, request: string, phase: string): string;
  /** "json", "yaml", "python", "shell", "link" or "none". */
  language(text: string): string;
  /** The command at the head of a script that reads arguments, in its docstring; "" where there is none. */
  started_in(script: string): string;
  /** Configurations and command lines inside a longer paste, as a list of texts (core/exchange/parts.h). */
  parts(text: string): string;
  /** Imports of several files of one run as one (core/report/join.h): a list of what import_text gives. "leads": whose file it is. */
  join(imports: string): string;
  /**
   * A configuration to a request, with a word on every key (core/report/exchange.h). `yaml_tree` is the parsed tree of a
   * YAML text as core/exchange/tree.h describes it, or "" for every other language. `around` is the longer paste that the
   * text was found in, which may say the versions of libraries, or ""; `command` the command line that starts it, where it
   * is a script, or "".
   */
  import_text(text: string, yaml_tree: string, around: string, command: string): string;
  /**
   * A pasted file with changes written back: the same format, order and comments, only the lines of the changes different
   * (core/report/patch.h). `changes`: a plan's [{"pointer", "to"}], {"before", "after"} of two requests, or a request.
   */
  patch_text(text: string, yaml_tree: string, changes: string): string;
}

export default function create_more(options: Options): Promise<More>;
