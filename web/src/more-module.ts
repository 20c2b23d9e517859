// The second module itself, and the YAML parser where a text needs it.
import createMore, { type More as Module } from "plimsoll-core/plimsoll_more.js";
import moreUrl from "plimsoll-core/plimsoll_more.wasm?url";
import type { ModelPreset, Request } from "./contract.ts";
import { usualIn } from "./lists.ts";
import { compile, open } from "./open.ts";
import { get, put } from "./pointer.ts";
import { addAll, otherPresets, firstPresets } from "./presets.ts";
import type { More } from "./more.ts";
import type { Format, Imported, Patched } from "./paste/found.ts";

/** One or two keys may be anybody's; not those of an object whose marks say whose it is, such as DeepSpeed's. */
const FEWEST_KEYS = 3;
const isMarked = (part: string, { format }: Imported) => part.startsWith("{") && format?.id !== "request";

/** A YAML text as a tree for the core; "" for every other language. */
async function treeOf(module: Module, text: string): Promise<string> {
  if (module.language(text) !== "yaml") return "";
  const { wire } = await import("./paste/yaml.ts");
  return wire(text);
}

/** Reads texts into requests. */
class Reader {
  constructor(private readonly module: Module) {}

  private async whole(text: string, around = "", command = ""): Promise<Imported> {
    const tree = await treeOf(this.module, text);
    return JSON.parse(this.module.import_text(text, tree, around, command)) as Imported;
  }

  /** The settings that a longer text holds; beside a script those in other languages. */
  private async partsOf(text: string, besideScript: boolean): Promise<Imported[]> {
    const { module } = this;
    const found: Imported[] = [];
    for (const part of JSON.parse(module.parts(text)) as string[]) {
      if (besideScript && !["yaml", "json"].includes(module.language(part))) continue;
      const read = await this.whole(part, text);
      const fewest = isMarked(part, read) ? 1 : FEWEST_KEYS;
      if (read.ok && (read.counts?.used ?? 0) >= fewest) found.push({ ...read, part });
    }
    return found;
  }

  /** A file, and what else stands in its text; or the settings that an issue holds between prose and traceback. */
  private async importsOf(text: string, several: boolean, command: string): Promise<Imported[]> {
    const { module } = this;
    const whole = await this.whole(text, "", command);
    const file = several ? { ...whole, part: text } : whole;
    const listed = whole.format?.id === "versions";
    const language = module.language(text);
    if (whole.ok && !listed && language !== "python" && language !== "shell") return [file];
    const data = await this.partsOf(text, true);
    const rest = data.reduce((left, { part = "" }) => left.replace(part, () => "\n"), text);
    if (whole.ok && language === "shell") {
      // A command, and below it the file that it names.
      return data.length === 0 ? [file] : [{ ...(await this.whole(rest)), part: rest }, ...data];
    }
    const script =
      data.length > 0 && !whole.ok && module.language(rest) === "python"
        ? await this.whole(rest, "", command)
        : whole;
    if (script !== whole && script.ok && script.request?.["model"] !== undefined) {
      return [{ ...script, part: rest }, ...data];
    }
    const parts = whole.ok && !listed ? data : await this.partsOf(text, false);
    return parts.length === 0 || (whole.ok && !listed) ? [file, ...parts] : parts;
  }

  /** What all of these say of one run; scripts are read as one. */
  async read(texts: string[]): Promise<Imported> {
    const { module } = this;
    const isScript = (text: string) => module.language(text) === "python";
    const script = texts.filter(isScript).join("\n");
    const given = texts.filter((text) => module.language(text) === "shell").join("\n");
    // Where no command is given, the one that stands at its head.
    const own = given === "" ? module.started_in(script) : "";
    const command = given + own;
    const each = [...texts.filter((text) => !isScript(text)), ...(script === "" ? [] : [script])];
    const started = own === "" ? [] : [await this.whole(own, script)].filter(({ ok }) => ok);
    const several = each.length > 1;
    const found = await Promise.all(each.map((text) => this.importsOf(text, several, command)));
    const imports = [...started, ...found.flat()];
    const parts = imports.flatMap(({ part }) => (part === undefined ? [] : [part]));
    const [first] = imports;
    if (imports.length === 1 && first) return { ...first, parts };
    const whole = JSON.parse(module.join(JSON.stringify(imports))) as Imported & { leads: number };
    const part = imports[whole.leads]?.part;
    return part === undefined ? whole : { ...whole, part, parts };
  }
}

/** The texts with a change of the request in them: the leading one, and those that have words for what it has none for. */
async function patch(
  module: Module,
  reader: Reader,
  texts: string[],
  before: Request,
  after: Request,
): Promise<Patched[]> {
  const done: Patched[] = [];
  const paired = texts.length > 1 || module.started_in(texts[0] ?? "") !== "";
  const { flags = [] } = paired ? await reader.read(texts) : {};
  const moved = flags.filter(
    (pointer) => JSON.stringify(get(before, pointer)) !== JSON.stringify(get(after, pointer)),
  );
  const there = moved.map((pointer) => ({
    pointer,
    value: get(after, pointer) ?? null,
    why: "the command beside this says it",
  }));
  let asked: object = {
    before,
    after: moved.reduce((under, pointer) => put(under, pointer, get(before, pointer)), after),
  };
  for (const text of texts) {
    const written = module.patch_text(text, await treeOf(module, text), JSON.stringify(asked));
    const one = { ...(JSON.parse(written) as Patched), of: text };
    const [leader] = done;
    if (!leader) done.push({ ...one, left_out: [...(one.left_out ?? []), ...there] });
    else if (one.ok && one.diff) {
      done.push({ ...one, left_out: [] });
      leader.left_out = one.left_out ?? [];
    }
    const left = done[0]?.left_out ?? [];
    if (!done[0]?.ok || left.length === 0) break;
    asked = { changes: left.map(({ pointer, value }) => ({ pointer, to: value })) };
  }
  return done;
}

export async function load(): Promise<More> {
  const [module, first, rest] = await Promise.all([
    compile(moreUrl).then((compiled) => open(createMore, compiled)),
    firstPresets(),
    otherPresets(),
  ]);
  await addAll(first + rest, (lines) => module.add_presets(lines));
  const reader = new Reader(module);
  const parsed = <Answer>(text: string): Promise<Answer> => Promise.resolve(JSON.parse(text) as Answer);
  return {
    models: async () => (await parsed<{ models: ModelPreset[] }>(module.models())).models,
    usual: (request) => Promise.resolve(usualIn(module.usual(JSON.stringify(request)))),
    answer: (request) => parsed(module.report(request)),
    report: (request, parts) => parsed(module.report(JSON.stringify({ ...request, want: parts }))),
    advise: (request) => parsed(module.advise(JSON.stringify(request))),
    compare: (one, other) => parsed(module.compare(JSON.stringify(one), JSON.stringify(other))),
    read: (texts) => reader.read(texts),
    diagnose: (text, request, answers) =>
      parsed(module.diagnose(text, request ? JSON.stringify(request) : "", answers)),
    patch: (texts, before, after) => patch(module, reader, texts, before, after),
    formats: async () => (await parsed<{ formats: Format[] }>(module.formats())).formats,
    weigh: (request) => parsed(module.report(JSON.stringify(request))),
    exportAs: (request, format) => parsed(module.export_text(JSON.stringify(request), format)),
  };
}
