// A YAML text as the tree that the core's importers read (core/exchange/tree.h): every scalar with its characters and
// its place, in bytes of UTF-8, so that a change can be written back where it belongs. The core types the scalars.
import { isAlias, isMap, isPair, isScalar, isSeq, parseDocument, type Document, type Node } from "yaml";

/** Configurations are small; a text whose anchors multiply beyond this is an attack or an accident. */
const MOST_NODES = 100_000;

type Wire =
  | { scalar: string; plain: boolean; at: number; length: number }
  | { list: Wire[]; at: number; length: number }
  | { map: { key: string; at: number; length: number; value: Wire }[]; at: number; length: number };

/** Place in bytes of each place in UTF-16 units. */
function byteOffsets(text: string): (index: number) => number {
  const offsets = new Uint32Array(text.length + 1);
  let bytes = 0;
  for (let index = 0; index < text.length; ++index) {
    offsets[index] = bytes;
    const unit = text.charCodeAt(index);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit < 0xdc00) bytes += 4;
    else if (unit < 0xdc00 || unit > 0xdfff) bytes += 3;
  }
  offsets[text.length] = bytes;
  return (index) => offsets[Math.min(index, text.length)] ?? bytes;
}

const EMPTY = { scalar: "", plain: true, at: 0, length: 0 } satisfies Wire;

/** Undefined where the parser gives up: ten thousand open brackets are more than its stack holds. */
function parsed(text: string): Document | undefined {
  try {
    const document = parseDocument(text, { version: "1.1", uniqueKeys: false, logLevel: "silent" });
    return document.errors.length > 0 ? undefined : document;
  } catch {
    return undefined;
  }
}

/** The tree as JSON text; "" when the text is no YAML, which the core then says in words. */
export function wire(text: string): string {
  const found = parsed(text);
  return found === undefined ? "" : written(found, text);
}

function written(document: Document, text: string): string {
  const offset = byteOffsets(text);
  let nodes = 0;

  function span(node: Node): { at: number; length: number } {
    const [from, to] = node.range ?? [0, 0];
    return { at: offset(from), length: offset(to) - offset(from) };
  }

  function convert(node: unknown, depth: number): Wire {
    if (++nodes > MOST_NODES || depth > 200) throw new RangeError("too large");
    if (isAlias(node)) return convert(node.resolve(document), depth + 1);
    if (isScalar(node)) {
      const plain = node.type === undefined || node.type === "PLAIN";
      const source = typeof node.source === "string" ? node.source : String(node.value ?? "");
      return { scalar: plain ? source : String(node.value), plain, ...span(node) };
    }
    if (isSeq(node)) return { list: node.items.map((item) => convert(item, depth + 1)), ...span(node) };
    if (isMap(node)) {
      const members = node.items.filter(isPair).flatMap((pair) => {
        const key = pair.key as Node;
        const name = isScalar(key) ? String(key.source ?? key.value) : String(key);
        const value = pair.value === null ? EMPTY : convert(pair.value, depth + 1);
        // "<<: *defaults" brings the members of another map, which later ones override.
        if (name === "<<" && "map" in value) return value.map;
        return [{ key: name, ...span(key), value }];
      });
      return { map: members, ...span(node) };
    }
    return EMPTY;
  }

  try {
    return JSON.stringify(convert(document.contents, 0));
  } catch {
    return "";
  }
}
