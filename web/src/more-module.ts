// The second module itself, and the YAML parser where a text needs it.
import createMore from "plimsoll-core/plimsoll_more.js";
import moreUrl from "plimsoll-core/plimsoll_more.wasm?url";
import type { Advice, Comparison, ModelPreset, Refusal, Report } from "./contract.ts";
import { addAll, otherPresets, firstPresets } from "./presets.ts";
import type { More } from "./more.ts";
import type { Diagnosis, Exported, Format, Imported, Patched } from "./paste/found.ts";

/** One or two keys may be anybody's. */
const FEWEST_KEYS = 3;

export async function load(): Promise<More> {
  const [module, first, rest] = await Promise.all([
    createMore({ locateFile: () => moreUrl }),
    firstPresets(),
    otherPresets(),
  ]);
  async function treeOf(text: string): Promise<string> {
    if (module.language(text) !== "yaml") return "";
    const { wire } = await import("./paste/yaml.ts");
    return wire(text);
  }
  async function readWhole(text: string): Promise<Imported> {
    return JSON.parse(module.import_text(text, await treeOf(text))) as Imported;
  }
  /** An issue holds its command or file between prose and traceback: the part that says most is read. */
  async function read(text: string): Promise<Imported> {
    const whole = await readWhole(text);
    if (whole.ok) return whole;
    let best = whole;
    let most = FEWEST_KEYS - 1;
    for (const part of JSON.parse(module.parts(text)) as string[]) {
      const found = await readWhole(part);
      const used = found.counts?.used ?? 0;
      if (!found.ok || used <= most) continue;
      most = used;
      best = { ...found, part };
    }
    return best;
  }
  await addAll(first + rest, (lines) => module.add_presets(lines));
  return {
    models: (JSON.parse(module.models()) as { models: ModelPreset[] }).models,
    answer: (request) => JSON.parse(module.report(request)) as Report | Refusal,
    report: (request, parts) =>
      JSON.parse(module.report(JSON.stringify({ ...request, want: parts }))) as Report | Refusal,
    advise: (request) => JSON.parse(module.advise(JSON.stringify(request))) as Advice,
    compare: (one, other) =>
      JSON.parse(module.compare(JSON.stringify(one), JSON.stringify(other))) as Comparison,
    read,
    diagnose: (text, request) =>
      JSON.parse(module.diagnose(text, request ? JSON.stringify(request) : "", "")) as Diagnosis,
    patch: async (text, before, after) =>
      JSON.parse(module.patch_text(text, await treeOf(text), JSON.stringify({ before, after }))) as Patched,
    formats: () => (JSON.parse(module.formats()) as { formats: Format[] }).formats,
    exportAs: (request, format) =>
      JSON.parse(module.export_text(JSON.stringify(request), format)) as Exported,
  };
}
