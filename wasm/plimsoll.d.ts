// Types of build/wasm/plimsoll.js. Every function takes and gives JSON text except version().
//
//     import create_plimsoll from "plimsoll.js";
//     const plimsoll = await create_plimsoll();
//     plimsoll.add_presets(first);   // the text of first.txt
//     const report = JSON.parse(plimsoll.report(JSON.stringify({ model: "mistral-7b-v0.3" })));

export interface Plimsoll {
  /**
   * Takes models, GPUs, stacks and the rest from a text of presets/pack.cmake. This module reads the model types of the
   * documented cases alone, which are in first.txt; plimsoll_more.js takes rest.txt as well and reads all. Gives "", or
   * what is wrong with a file.
   */
  add_presets(text: string): string;
  /**
   * A request to its report. Bad input gives a report with `ok: false` and `errors`; it never throws. What "want" may name
   * (plans, limits, timeline, allocator) is in plimsoll_more.js.
   */
  report(request: string): string;
  /** The models that have been added. */
  models(): string;
  /** What presets/gpus/ holds. */
  gpus(): string;
  /** What presets/scenarios/ holds. */
  scenarios(): string;
  /** Every field of a request, with its type and what it may hold; and the stacks. What a field means is in plimsoll_more.js. */
  fields(): string;
  /** Version of the core, as in the report's `core`. */
  version(): string;
}

export interface Options {
  /** The bytes of plimsoll.wasm, when they are already at hand. */
  wasmBinary?: ArrayBuffer | Uint8Array;
  /** Where a file of the module lies, given its name and the folder of plimsoll.js. */
  locateFile?(name: string, folder: string): string;
  /** The module itself, when another thread has compiled it. */
  module?: WebAssembly.Module;
}

export function compile(options?: Options): Promise<WebAssembly.Module>;

export default function create_plimsoll(options?: Options): Promise<Plimsoll>;
