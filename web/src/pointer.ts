// Reading and changing one value of a JSON tree by its RFC 6901 pointer.
//
//     get(request, "/training/max_length")              -> 512
//     put(request, "/training/max_length", 1024)        -> a changed copy
//     put(request, "/training/max_length", undefined)   -> a copy without that key
import type { Json, JsonObject } from "./contract.ts";

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function tokens(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export function get(tree: JsonObject, pointer: string): Json | undefined {
  let at: Json | undefined = tree;
  for (const token of tokens(pointer)) {
    if (!isObject(at) || !Object.hasOwn(at, token)) return undefined;
    at = at[token];
  }
  return at;
}

export function put(tree: JsonObject, pointer: string, value: Json | undefined): JsonObject {
  const [first, ...rest] = tokens(pointer);
  if (first === undefined) return tree;
  const copy = { ...tree };
  if (rest.length > 0) {
    const branch = copy[first];
    const deeper = `/${rest.map((token) => token.replaceAll("~", "~0").replaceAll("/", "~1")).join("/")}`;
    if (value === undefined && !isObject(branch)) return tree;
    copy[first] = put(isObject(branch) ? branch : {}, deeper, value);
  } else if (value === undefined) {
    delete copy[first];
  } else {
    copy[first] = value;
  }
  return copy;
}

/** "/training/max_length" to "training.max_length", as people and links write it. */
export const dotted = (pointer: string): string => pointer.replace(/^\//, "").replaceAll("/", ".");

/** A value as it stands in a file: words without quotes. */
export const plain = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));
