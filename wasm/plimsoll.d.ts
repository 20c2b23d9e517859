// Types of build/wasm/plimsoll.js. Every function takes and gives JSON text except version().
//
//     import create_plimsoll from "plimsoll.js";
//     const plimsoll = await create_plimsoll();
//     const report = JSON.parse(plimsoll.report(JSON.stringify({ model: "mistral-7b-v0.3" })));

export interface Plimsoll {
  /**
   * A request to its report. Bad input gives a report with `ok: false` and `errors`; it never throws. What "want" may name
   * (plans, limits, timeline) is in plimsoll_more.js.
   */
  report(request: string): string;
  /** What presets/models/ holds. */
  models(): string;
  /** What presets/gpus/ holds. */
  gpus(): string;
  /** What presets/scenarios/ holds. */
  scenarios(): string;
  /** Every field of a request, with its type, what it may hold and what it means; and the stacks. */
  fields(): string;
  /** Version of the core, as in the report's `core`. */
  version(): string;
}

export interface Options {
  /** The bytes of plimsoll.wasm, when they are already at hand. */
  wasmBinary?: ArrayBuffer | Uint8Array;
  /** Where a file of the module lies, given its name and the folder of plimsoll.js. */
  locateFile?(name: string, folder: string): string;
}

export default function create_plimsoll(options?: Options): Promise<Plimsoll>;
