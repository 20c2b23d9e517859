// The second module itself, and the YAML parser where a text needs it.
import createMore from "plimsoll-core/plimsoll_more.js";
import moreUrl from "plimsoll-core/plimsoll_more.wasm?url";
import type { ModelPreset } from "./contract.ts";
import { compile, open } from "./open.ts";
import { addAll, otherPresets, firstPresets } from "./presets.ts";
import type { More } from "./more.ts";
import type { Format, Imported } from "./paste/found.ts";

/** One or two keys may be anybody's. */
const FEWEST_KEYS = 3;

export async function load(): Promise<More> {
  const [module, first, rest] = await Promise.all([
    compile(moreUrl).then((compiled) => open(createMore, compiled)),
    firstPresets(),
    otherPresets(),
  ]);
  async function treeOf(text: string): Promise<string> {
    if (module.language(text) !== "yaml") return "";
    const { wire } = await import("./paste/yaml.ts");
    return wire(text);
  }
  async function readWhole(text: string, around = ""): Promise<Imported> {
    return JSON.parse(module.import_text(text, await treeOf(text), around)) as Imported;
  }
  /** An issue holds its command or file between prose and traceback: the part that says most is read. */
  async function read(text: string): Promise<Imported> {
    const whole = await readWhole(text);
    if (whole.ok && whole.format?.id !== "versions") return whole;
    let best = whole;
    let most = FEWEST_KEYS - 1;
    for (const part of JSON.parse(module.parts(text)) as string[]) {
      const found = await readWhole(part, text);
      const used = found.counts?.used ?? 0;
      if (!found.ok || used <= most) continue;
      most = used;
      best = { ...found, part };
    }
    return best;
  }
  await addAll(first + rest, (lines) => module.add_presets(lines));
  const parsed = <Answer>(text: string): Promise<Answer> => Promise.resolve(JSON.parse(text) as Answer);
  return {
    models: async () => (await parsed<{ models: ModelPreset[] }>(module.models())).models,
    answer: (request) => parsed(module.report(request)),
    report: (request, parts) => parsed(module.report(JSON.stringify({ ...request, want: parts }))),
    advise: (request) => parsed(module.advise(JSON.stringify(request))),
    compare: (one, other) => parsed(module.compare(JSON.stringify(one), JSON.stringify(other))),
    read,
    diagnose: (text, request, answers) =>
      parsed(module.diagnose(text, request ? JSON.stringify(request) : "", answers)),
    patch: async (text, before, after) =>
      parsed(module.patch_text(text, await treeOf(text), JSON.stringify({ before, after }))),
    formats: async () => (await parsed<{ formats: Format[] }>(module.formats())).formats,
    weigh: (request) => parsed(module.report(JSON.stringify(request))),
    exportAs: (request, format) => parsed(module.export_text(JSON.stringify(request), format)),
  };
}
