// The part of the address after # is the request, readable and complete:
//
//     #v=1&model=mistral-7b-v0.3&training.max_length=512&peft.target_modules=q_proj,v_proj&c=k3x9
//
// v   version of this form; it changes only when the meaning of a key changes; a link typed by hand may leave it out
// ... every value that the request states, by its dotted path; what is left out is left to the core's defaults
// by  version of the core that made the link, and
// t   the total it showed then, in GiB: a newer core may say otherwise, and the page then tells both
// c   checksum over the rest, because half a readable link still reads as a link, to another configuration; a link typed by
//     hand has none, and is said to be unchecked
// tab which part of the answer is open, where that is not the first; it is no part of the request
// a   before the tab of comparisons: the link of the request that this one is compared with
//
// A value is a number, true, false, null, a word, or words joined by commas (a list; a list of one ends in a comma).
// Anything else is JSON. The core checks every value afterwards: nothing here is trusted.
import type { Json, JsonObject, Request } from "./contract.ts";
import { get, isObject, put } from "./pointer.ts";
import { say, type Word } from "./words/say.ts";

const VERSION = "1";

/** Behind the checksum, because it is no part of the request. */
const TAB = /(?:&a=([^&]*))?(?:^#?|&)tab=([a-z]*)$/;
export const FIRST_TAB = "fixes";
export const COMPARING = "compare";

/** Which part of the answer an address opens. */
export const tabOf = (fragment: string): string => TAB.exec(fragment)?.[2] ?? FIRST_TAB;

export function withTab(fragment: string, tab: string, kept?: Request): string {
  const bare = fragment.replace(TAB, "");
  if (tab === FIRST_TAB) return bare;
  const beside = kept && tab === COMPARING ? `a=${encodeURIComponent(encode(kept).slice(1))}&` : "";
  return `${bare === "" ? "#" : `${bare}&${beside}`}tab=${tab}`;
}

/** What an address compares its request with. */
export function keptIn(fragment: string): Request | undefined {
  try {
    const read = decode(decodeURIComponent(TAB.exec(fragment)?.[1] ?? ""));
    return read.kind === "request" ? read.request : undefined;
  } catch {
    return undefined;
  }
}

/** Old defaults by stack and pointer; those under "*" are of all stacks that name no other. */
export type Frozen = Record<string, Record<string, Json>>;

/**
 * A link leaves out what was the default when its version was current. Should the core change a default, its old value
 * goes here, by version and stack, and links of that version keep their meaning; tests/links/ fails until it does.
 */
export const FROZEN: Record<string, Frozen> = { "1": {} };

/** Where a link names no stack. */
const USUAL_STACK = "hf";

/** What was the default then, of a link that names this stack. */
export const frozenFor = (frozen: Frozen | undefined, stack: unknown): Record<string, Json> => ({
  ...frozen?.["*"],
  ...frozen?.[typeof stack === "string" ? stack : USUAL_STACK],
});

export type Decoded =
  | { kind: "empty" }
  | { kind: "request"; request: Request; made?: Made; unchecked: boolean }
  | { kind: "broken"; message: string };

/** What the link's maker saw. */
export interface Made {
  version: string;
  total: string;
}

/** No setting is called so: the contract's own keys are longer. */
const MADE = { by: "version", t: "total" } as const;

export function encode(request: Request, made?: Made): string {
  const pairs: [string, string][] = [["v", VERSION]];
  for (const [path, value] of leaves(request)) {
    if (path !== "schema") pairs.push([path, writeValue(value)]);
  }
  if (made) pairs.push(["by", made.version], ["t", made.total]);
  pairs.push(["c", checksum(pairs)]);
  return `#${pairs.map(([key, value]) => `${escapeText(key)}=${escapeText(value)}`).join("&")}`;
}

export function decode(fragment: string, frozen = FROZEN): Decoded {
  const text = fragment.replace(TAB, "").replace(/^#/, "");
  if (text === "") return { kind: "empty" };
  const pairs: [string, string][] = [];
  for (const part of text.split("&")) {
    const equals = part.indexOf("=");
    if (equals < 1) return broken("link.foreign");
    try {
      pairs.push([decodeURIComponent(part.slice(0, equals)), decodeURIComponent(part.slice(equals + 1))]);
    } catch {
      return broken("link.damaged");
    }
  }
  // Whoever types a link has no checksum, and may leave out the version; a link that says what its maker saw has lost them.
  const unchecked = !pairs.some(([path]) => ["c", "by", "t"].includes(path));
  const said = pairs.find(([path]) => path === "v");
  const ours =
    pairs.every(([path]) => /^[a-z]/i.test(path)) && pairs.some(([path]) => /^model(\.|$)/.test(path));
  const version = said?.[1] ?? (unchecked && ours ? VERSION : undefined);
  if (version === undefined) return broken("link.foreign");
  if (version !== VERSION) return broken("link.newer");
  if (!unchecked) {
    const last = pairs.pop();
    if (last?.[0] !== "c" || last[1] !== checksum(pairs)) return broken("link.cut");
  }
  let request: Request = {};
  const made: Partial<Made> = {};
  for (const pair of pairs) {
    const [path, value] = pair;
    if (pair === said) continue;
    if (path === "by" || path === "t") {
      made[MADE[path]] = value;
      continue;
    }
    const grown = plant(request, path.split("."), readValue(value));
    if (!grown) return broken("link.twice");
    request = grown;
  }
  for (const [pointer, value] of Object.entries(frozenFor(frozen[version], request["stack"]))) {
    if (get(request, pointer) === undefined && !isUnwritten(request, pointer))
      request = put(request, pointer, value);
  }
  const { version: by, total } = made;
  return by !== undefined && total !== undefined
    ? { kind: "request", request, unchecked, made: { version: by, total } }
    : { kind: "request", request, unchecked };
}

/** Same settings, in whatever order they are written. */
export function sameRequest(one: Request, other: Request): boolean {
  const flat = (request: Request) =>
    leaves(request)
      .map(([path, value]) => `${path}=${writeValue(value)}`)
      .filter((pair) => pair !== "schema=1")
      .sort()
      .join("&");
  return flat(one) === flat(other);
}

/** In a section that would begin to hold once it is there: a run without "peft" has no adapters. */
const isUnwritten = (request: Request, pointer: string): boolean => {
  const section = /^\/(peft|rl|data)\//.exec(pointer)?.[1];
  return section !== undefined && request[section] === undefined;
};

function broken(why: Word): Decoded {
  return { kind: "broken", message: say("link.broken", { why: say(why) }) };
}

function leaves(tree: JsonObject, prefix = ""): [string, Json][] {
  return Object.entries(tree).flatMap(([key, value]): [string, Json][] => {
    const path = prefix + key.replaceAll("~", "~0").replaceAll(".", "~1");
    return isObject(value) && Object.keys(value).length > 0 ? leaves(value, `${path}.`) : [[path, value]];
  });
}

/** Undefined when the place is taken. Keys become own properties whatever their name, "__proto__" included. */
function plant(tree: JsonObject, path: string[], value: Json): JsonObject | undefined {
  const [first = "", ...rest] = path;
  const key = first.replaceAll("~1", ".").replaceAll("~0", "~");
  const old = Object.hasOwn(tree, key) ? tree[key] : undefined;
  let grown: Json | undefined = value;
  if (rest.length > 0) {
    if (old !== undefined && !isObject(old)) return undefined;
    grown = plant(old ?? {}, rest, value);
    if (grown === undefined) return undefined;
  } else if (old !== undefined) {
    return undefined;
  }
  const copy = { ...tree };
  Object.defineProperty(copy, key, { value: grown, enumerable: true, configurable: true, writable: true });
  return copy;
}

// A word is text that no reader could take for anything else.
const readsAsWord = (text: string) =>
  /^[A-Za-z_][^,"]*$/.test(text) && !["true", "false", "null"].includes(text);
const isWord = (value: Json): value is string => typeof value === "string" && readsAsWord(value);

function writeValue(value: Json): string {
  if (isWord(value)) return value;
  if (Array.isArray(value) && value.every(isWord)) {
    return value.length === 1 ? `${value[0]},` : value.length === 0 ? "[]" : value.join(",");
  }
  return JSON.stringify(value);
}

function readValue(text: string): Json {
  if (readsAsWord(text)) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    if (!text.includes(",")) return text;
    return text.replace(/,$/, "").split(",");
  }
}

/** Letters that chat programs and URL parsers leave alone stay readable. */
function escapeText(text: string): string {
  return encodeURIComponent(text).replaceAll("%2C", ",").replaceAll("%2F", "/").replaceAll("%3A", ":");
}

/** FNV-1a over the decoded pairs, so that a program that escapes more or less does not break the link. */
function checksum(pairs: [string, string][]): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(pairs.map(([key, value]) => `${key}=${value}`).join("&"))) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return (hash % 36 ** 4).toString(36).padStart(4, "0");
}
