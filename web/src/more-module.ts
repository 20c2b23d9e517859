// The second module itself, and the YAML parser where a text needs it.
import createMore from "plimsoll-core/plimsoll_more.js";
import moreUrl from "plimsoll-core/plimsoll_more.wasm?url";
import type { Advice, Comparison, Refusal, Report } from "./contract.ts";
import type { More } from "./more.ts";
import type { Diagnosis, Imported } from "./paste/found.ts";

export async function load(): Promise<More> {
  const module = await createMore({ locateFile: () => moreUrl });
  return {
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
