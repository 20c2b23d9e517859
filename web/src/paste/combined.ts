// A pasted text over the request that is there.
import type { Request } from "../contract.ts";
import type { Imported } from "./found.ts";

const isTree = (value: unknown): value is Request =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function merge(under: Request, over: Request): Request {
  const merged: Request = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const old = merged[key];
    merged[key] = isTree(old) && isTree(value) ? merge(old, value) : value;
  }
  return merged;
}

/**
 * A part of a configuration changes what is there. A whole one replaces it; only the machine, which no training file knows, stays
 * where the person has named it.
 */
export function combined(under: Request, fresh: Request, read: Imported | undefined): Request {
  if (read?.partial) return merge(under, fresh);
  const { hardware } = under;
  return fresh["hardware"] === undefined && hardware !== undefined ? { ...fresh, hardware } : fresh;
}
