// A pasted text over the request that is there.
import type { Request } from "../contract.ts";
import { ADAPTERS } from "../own.ts";
import { get, put } from "../pointer.ts";
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

/** The cell that loads a model in few bits says nothing yet of what is trained: some adapters are, and which is asked. */
export function begun(request: Request): { request: Request; open: string[] } {
  const bits = ["load_in_4bit", "load_in_8bit"].some((key) => get(request, `/quantization/${key}`) === true);
  const { training = {}, peft } = request;
  const trains = !isTree(training) || Object.keys(training).some((key) => key !== "max_length");
  if (!bits || trains || peft !== undefined) return { request, open: [] };
  return {
    request: { ...request, peft: ADAPTERS },
    open: ["/peft"],
  };
}

/** A configuration of adapters names its model too, and says nothing of how they are trained. */
export const isPart = (read: Imported | undefined): boolean =>
  read?.partial === true || read?.format?.id === "peft";

/**
 * A part of a configuration changes what is there. A whole one replaces it; only the machine, which no training file knows, stays
 * where the person has named it, and of a run of the same model what was asked and has been answered.
 */
export function combined(under: Request, fresh: Request, read: Imported | undefined): Request {
  if (isPart(read)) return merge(read?.format?.id === "peft" ? put(under, "/peft", undefined) : under, fresh);
  const { hardware } = under;
  const whole = fresh["hardware"] === undefined && hardware !== undefined ? { ...fresh, hardware } : fresh;
  if (under["model"] === undefined || under["model"] !== fresh["model"]) return whole;
  return (read?.missing ?? []).reduce((answered, { pointer }) => {
    const answer = get(under, pointer);
    return answer === undefined || get(answered, pointer) !== undefined
      ? answered
      : put(answered, pointer, answer);
  }, whole);
}

export const pointers = (request: Request): string[] => Object.keys(request).map((key) => `/${key}`);
