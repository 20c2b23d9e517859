// The thread of the first module, until the page has an instance of its own (web/src/first-thread.ts is the other side): the
// browser compiles the module's functions as they are first called, and what is compiled here need not be compiled there.
import createPlimsoll from "plimsoll-core/plimsoll.js";
import wasmUrl from "plimsoll-core/plimsoll.wasm?url";
import type { Begun, FirstAsked } from "./first-thread.ts";
import { listsOf, modelsOf } from "./lists.ts";
import { compile, open } from "./open.ts";
import { firstPresets, otherPresets } from "./presets.ts";
import { serve } from "./thread.ts";

// Not awaited here: what is fetched on demand may import parts that were bundled with this file.
serve(async () => {
  const [module, presets] = await Promise.all([compile(wasmUrl), firstPresets()]);
  const plimsoll = await open(createPlimsoll, module);
  const add = (text: string) => {
    const problem = plimsoll.add_presets(text);
    if (problem !== "") throw new Error(problem);
  };
  add(presets);
  const begun: Begun = { lists: await listsOf(plimsoll, () => Promise.resolve()), module, presets };
  const extend = async () => {
    add(await otherPresets());
    return modelsOf(plimsoll);
  };
  const perform = async ({ report, usual }: FirstAsked): Promise<unknown> => {
    if (usual !== undefined) return plimsoll.usual(usual);
    return report === undefined ? extend() : plimsoll.quick_report(report);
  };
  return { begun, perform };
});
