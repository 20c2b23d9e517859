// What is pasted one after another: a launcher's YAML and then the script, the cells of a notebook, an error and then its file.
import type { More } from "../more.ts";
import type { Request } from "../contract.ts";
import { BATCH, COUNT, LENGTH } from "../own.ts";
import { get, isObject, plain, put } from "../pointer.ts";
import type { Diagnosis, Imported } from "./found.ts";
import type { Failed } from "./used.ts";

export const DIED = /memory|alloc/i;

/** What belongs to no other file: a model alone, a request of this page. */
const ALONE = ["config", "request"];

const modelOf = (imported: Imported) => imported.request?.["model"];

/** The texts that say the run: the fresh one alone where it says a run of its own. */
export async function together(core: More, earlier: string[], fresh: string): Promise<string[]> {
  if (earlier.length === 0) return [fresh];
  const read = await core.read([fresh]);
  if (!read.ok || !read.request || ALONE.includes(read.format?.id ?? "")) return [fresh];
  const kept: string[] = [];
  for (const text of earlier) {
    const before = await core.read([text]);
    // What was said in words has been answered.
    if (!before.request && !DIED.test(text)) continue;
    if (text === fresh || ALONE.includes(before.format?.id ?? "")) continue;
    const [old, model] = [modelOf(before), modelOf(read)];
    const differ = old !== undefined && model !== undefined && old !== model;
    if (differ && !(await isStarted(core, [text, before], [fresh, read]))) return [fresh];
    // The cells of a notebook go on; a file that is read anew takes the place of the old one.
    const starts = isCommand(before) !== isCommand(read);
    const goesOn =
      starts || before.format?.id !== read.format?.id || (isScript(before) && model === undefined);
    if (goesOn) kept.push(text);
  }
  return [...kept, fresh];
}

/** Texts that come at once, as files do; `out`: those that say nothing of the run that the others say. */
export async function allTogether(
  core: More,
  earlier: string[],
  fresh: string[],
): Promise<{ texts: string[]; out: string[] }> {
  const read = await Promise.all(fresh.map((text) => core.read([text])));
  const says = (_: string, index: number) => read[index]?.ok === true && read[index].request != null;
  const settings = fresh.filter(says);
  const words = fresh.filter((text, index) => !says(text, index));
  if (settings.length === 0 || fresh.length === 1) {
    return { texts: fresh.length === 1 ? await together(core, earlier, fresh[0]!) : words, out: [] };
  }
  let texts = words.length > 0 ? words : earlier;
  for (const text of settings) texts = await together(core, texts, text);
  return { texts, out: fresh.filter((text) => !texts.includes(text)) };
}

const isCommand = ({ format }: Imported): boolean => format?.command === true;

/** A command beside its script: what it gives the script's flag is the model of both. */
async function isStarted(core: More, ...[one, other]: [string, Imported][]): Promise<boolean> {
  if (!one || !other || isCommand(one[1]) === isCommand(other[1])) return false;
  const command = isCommand(one[1]) ? one : other;
  const both = await core.read([one[0], other[0]]);
  // A file of another run stays out: then what was read is the command alone.
  return modelOf(both) === modelOf(command[1]) && both.format?.name !== command[1].format?.name;
}

const isScript = ({ format }: Imported): boolean => / Python$/.test(format?.name ?? "");

/** What a file leaves open and words beside it may say: the machine and the images. */
const BESIDE = ["/model", "/hardware/gpu", COUNT, "/vision/images_per_sample"];
const CHANGES = [...BESIDE.slice(1), LENGTH, BATCH];

/** "And on two 4090s?", of the run that is there; undefined where the words are of another run, of a failure, or of nothing that is set. */
export async function changedBy(
  core: More,
  request: Request,
  words: string,
  found: Diagnosis | undefined,
): Promise<Request | undefined> {
  const model = request["model"];
  const named = found?.said?.request["model"] !== undefined;
  const other = found?.ok && (found.messages.length > 0 || named || found.inference === true);
  if (other || typeof model !== "string") return undefined;
  const { said } = await core.diagnose(`Will ${model} fit? ${words}`, undefined, "");
  // "An A100" says which, and not that it is one.
  const edits = CHANGES.filter((pointer) => {
    const value = get(said?.request ?? {}, pointer);
    return value !== undefined && !(pointer === COUNT && value === 1);
  });
  if (edits.length === 0) return undefined;
  return edits.reduce((under, pointer) => put(under, pointer, get(said?.request ?? {}, pointer)), request);
}

/** A model's name, or its address, and not a word beside it: it is chosen like one of the list. */
export function modelAlone(words: string, found: Diagnosis | undefined): Request | undefined {
  const said = found?.said?.request ?? {};
  const alone = !/\s/.test(words.trim()) && Object.keys(said).join() === "model";
  return alone && found?.messages.length === 0 ? said : undefined;
}

/** Sentences around a script: lines of words alone. */
const sentences = (text: string): string =>
  text
    .split("\n")
    .filter((line) => /^\s*\p{L}+(?:[ ,'’-]+[\p{L}\d.,?!'’-]+){3,}\s*$/u.test(line))
    .join("\n");

/** The texts as a request, and what a person says beside their settings. */
export async function readRun(core: More, texts: string[], whole: string): Promise<Imported> {
  const imported = await core.read(texts);
  const parts = imported.parts ?? [];
  const around = parts.reduce((rest, part) => rest.replace(part, () => "\n"), whole);
  const words = (parts.length > 0 ? around : sentences(whole)).trim();
  if (!imported.ok || !imported.request || words === "" || DIED.test(words)) return imported;
  // Images are said of a model that sees.
  const model = plain(imported.request["model"] ?? "");
  const { said } = await core.diagnose(`${model}\n${words}`, undefined, "");
  const request = BESIDE.reduce((under, pointer) => {
    const value = get(said?.request ?? {}, pointer);
    return value === undefined || get(under, pointer) !== undefined ? under : put(under, pointer, value);
  }, imported.request);
  return { ...imported, request };
}

/** The request that a text alone says, where it says a whole one. */
export function wholeOf({ request, partial }: Partial<Imported> = {}): Request | undefined {
  return request && !partial && request["model"] !== undefined ? request : undefined;
}

/** What an error message shows of the machine. */
export function machineOf(found: Diagnosis | undefined): {
  capacity: number | undefined;
  ranks: number;
  died: boolean;
} {
  const messages = found?.messages ?? [];
  const capacity = messages[0]?.numbers["capacity"] ?? found?.said?.card_bytes;
  return { capacity, ranks: Math.max(0, ...messages.map(({ rank }) => rank + 1)), died: messages.length > 0 };
}

/** Logits say how many tokens a micro-batch has, all samples together. */
export function failedIn(found: Diagnosis | undefined): Failed | undefined {
  const [size] = found?.sizes ?? [];
  return size?.exact && size.tensor === "logits" ? { tokens: size.tokens, model: size.model } : undefined;
}

/** Whether the one is the other with what was open answered; the card, which a message names by its size alone, may be another. */
export const isAnswered = (before: Request, after: Request): boolean =>
  Object.entries(before).every(([key, old]) => {
    const value = after[key];
    if (key === "hardware") return true;
    return isObject(old)
      ? isObject(value) && isAnswered(old, value)
      : JSON.stringify(old) === JSON.stringify(value);
  });
