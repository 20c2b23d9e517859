// Types of build/wasm/plimsoll_paste.js, the module that reads what people paste. Text in, JSON text out.
//
//     import create_paste from "plimsoll_paste.js";
//     const paste = await create_paste();
//     const diagnosis = JSON.parse(paste.diagnose(errorText, "", ""));
import type { Options } from "./plimsoll";

export interface Paste {
  /** A request as a file of another tool: {"ok", "format", "text", "left_out", "errors"}. */
  export_text(request: string, format: string): string;
  /** The formats: {"formats": [{"id", "name", "reads", "writes"}]}. */
  formats(): string;
  /**
   * A pasted failure (error lines, a traceback, nvidia-smi, all in one) explained: the figures, the causes by
   * likelihood, the tensor that failed. `request` is the run's request, even half of one, or ""; `phase` is what
   * the person says of the moment ("load", "loss", ...), or "".
   */
  diagnose(text: string, request: string, phase: string): string;
  /** "json", "yaml", "python", "shell", "link" or "none". */
  language(text: string): string;
  /**
   * A configuration to a request, with a word on every key (core/report/exchange.h); places are bytes of the UTF-8
   * text. `yaml_tree` is the parsed tree of a
   * YAML text as core/exchange/tree.h describes it, or "" for every other language.
   */
  import_text(text: string, yaml_tree: string): string;
}

export default function create_paste(options?: Options): Promise<Paste>;
