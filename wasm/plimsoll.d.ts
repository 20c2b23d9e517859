// Types of build/wasm/plimsoll.js, which Emscripten writes: every function takes and gives JSON text except version(). That
// they are those of wasm/bindings.cpp is tested by tests/wasm/declarations.mjs.
//
//     import create_plimsoll from "plimsoll.js";
//     const plimsoll = await create_plimsoll({ wasmBinary });
//     plimsoll.add_presets(first);   // the text of first.txt
//     const report = JSON.parse(plimsoll.quick_report(JSON.stringify({ model: "mistral-7b-v0.3" })));

export interface Plimsoll {
  /** Takes models, GPUs, stacks and the rest from a text of presets/pack.cmake. Gives "", or what is wrong with a file. */
  add_presets(text: string): string;
  /**
   * A request to its report. Bad input gives a report with `ok: false` and `errors`; it never throws. What "want" names
   * (plans, limits, timeline, allocator) is left out: plimsoll_more.js has it.
   */
  quick_report(request: string): string;
  /** What nobody trains without and a request leaves open (core/run/usual.h): {"usual": [{"pointer", "value", "why"}]}. */
  usual(request: string): string;
  /** The models that have been added. */
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

/** Emscripten's own, of which one is given: the bytes of the .wasm, or what opens a module that is compiled already. */
export interface Options {
  wasmBinary?: ArrayBuffer | Uint8Array;
  instantiateWasm?(
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object;
}

export default function create_plimsoll(options: Options): Promise<Plimsoll>;
