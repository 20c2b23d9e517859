// What a text became, and whether the page still shows it: what the text left open may be answered since.
import type { Json, Request } from "../contract.ts";
import { sameRequest } from "../link.ts";
import { CHECKPOINTING, COUNT, LEFT_OPEN, PRECISION, saysMethod } from "../own.ts";
import { get, isObject, put } from "../pointer.ts";
import { isPart } from "./combined.ts";
import type { Diagnosis, Imported } from "./found.ts";
import { isAnswered } from "./together.ts";

/** The request that a text became, with what it left open and was answered since; and what of it nobody has said. */
export interface Became {
  request: Request;
  assumed: string[];
}

/** What a text may leave open and a person may answer, or the page for them. */
const ANSWERED = ["/hardware/gpu", COUNT, "/parallel/strategy", ...LEFT_OPEN, "/rl/max_prompt_length"];
const FILLED = ["/vision/images_per_sample", "/vision/image_size", CHECKPOINTING, ...PRECISION];

const isEmpty = (value: Json): boolean => isObject(value) && Object.keys(value).length === 0;

/** Whether a request is still that which a text became: nothing is another but what the text does not say. */
function isStill(
  became: Request,
  request: Request,
  read: Imported | undefined,
  found: Diagnosis | undefined,
): boolean {
  const own = read?.request ?? found?.said?.request ?? became;
  // A model or a part of a file says nothing of the rest.
  if (read?.request && (isPart(read) || read.format?.id === "config"))
    return isAnswered(read.format?.id === "config" ? { model: became["model"] ?? null } : own, request);
  const method = saysMethod(own, []) ? [] : ["/peft", "/quantization"];
  const missing = (read?.missing ?? []).map(({ pointer }) => pointer);
  const open = [...ANSWERED, ...FILLED, ...method, ...missing].filter(
    (pointer) => get(own, pointer) === undefined,
  );
  const said = (whole: Request) => {
    const rest = open.reduce((under, pointer) => put(under, pointer, undefined), whole);
    return Object.fromEntries(Object.entries(rest).filter(([, value]) => !isEmpty(value)));
  };
  return sameRequest(said(became), said(request));
}

/** `past`: a plan was applied to it. */
export const isShown = (
  became: Became | undefined,
  request: Request,
  past: boolean,
  read: Imported | undefined,
  found: Diagnosis | undefined,
): boolean =>
  became !== undefined &&
  (sameRequest(became.request, request) || (!past && isStill(became.request, request, read, found)));
