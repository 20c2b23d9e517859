// The second module itself, and the YAML parser where a text needs it.
import createMore from "plimsoll-core/plimsoll_more.js";
import moreUrl from "plimsoll-core/plimsoll_more.wasm?url";
import type { Advice, Comparison, ModelPreset, Refusal, Report } from "./contract.ts";
import { addAll, otherPresets, firstPresets } from "./presets.ts";
import type { More } from "./more.ts";
import type { Diagnosis, Imported } from "./paste/found.ts";

export async function load(): Promise<More> {
  const [module, first, rest] = await Promise.all([
    createMore({ locateFile: () => moreUrl }),
    firstPresets(),
    otherPresets(),
  ]);
  await addAll(first + rest, (lines) => module.add_presets(lines));
  return {
    models: (JSON.parse(module.models()) as { models: ModelPreset[] }).models,
    answer: (request) => JSON.parse(module.report(request)) as Report | Refusal,
    report: (request, parts) =>
      JSON.parse(module.report(JSON.stringify({ ...request, want: parts }))) as Report | Refusal,
    advise: (request) => JSON.parse(module.advise(JSON.stringify(request))) as Advice,
    compare: (one, other) =>
      JSON.parse(module.compare(JSON.stringify(one), JSON.stringify(other))) as Comparison,
    async read(text) {
      let tree = "";
      if (module.language(text) === "yaml") {
        const { wire } = await import("./paste/yaml.ts");
        tree = wire(text);
      }
      return JSON.parse(module.import_text(text, tree)) as Imported;
    },
    diagnose: (text, request) =>
      JSON.parse(module.diagnose(text, request ? JSON.stringify(request) : "", "")) as Diagnosis,
  };
}
