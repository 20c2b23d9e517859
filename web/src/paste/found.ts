// What was understood of a pasted text.
import type { Json, Plan, Request } from "../contract.ts";
import type { Failed } from "./used.ts";

/** `proven`: by a size that failed and is of no other value. */
export interface Adjusted {
  pointer: string;
  value: Json;
  why: string;
  proven?: boolean;
}

export interface Finding {
  key: string;
  use: "used" | "implied" | "irrelevant" | "unsupported" | "unknown";
  pointer?: string;
  message?: string;
}

export interface Imported {
  ok: boolean;
  /** `command`: the text starts a program, whose flags win over its files. */
  format?: { id: string; name: string; command?: boolean } | null;
  partial?: boolean;
  /** Where this stands in a longer paste: its own text. */
  part?: string;
  /** All of it that was read, where that is not the whole paste. */
  parts?: string[];
  request?: Request | null;
  /** What `request` has beside what was given, as the failure shows it. */
  adjusted?: Adjusted[];
  /** Essentials that the text does not say, and why they are asked for. */
  missing?: { pointer: string; message: string }[];
  counts?: Record<Finding["use"], number>;
  keys?: Finding[];
  /** Fields that a command beside the file says: a change of them belongs there. */
  flags?: string[];
  notes?: string[];
  errors: { code: string; message: string; pointer: string; allowed?: string }[];
}

export interface Message {
  kind: string;
  what: string;
  quote: string;
  /** Of the process that printed it; -1 where that is not said. */
  rank: number;
  numbers: Record<string, number>;
}

export interface Cause {
  id: string;
  /** The narrower one that speaks in its stead. */
  case?: string;
  title: string;
  confidence: number;
  detectable_from: string;
  evidence: Json[];
  why: string;
  remedy: string;
  ask: string;
}

/** What would tell the likeliest causes apart. */
export interface Question {
  id: string;
  text: string;
  choices: { id: string; text: string; means: string }[];
}

/** A way to run what a question asks, priced. */
export interface Way {
  name: string;
  needed: number;
  usable?: number;
  verdict: "fits" | "tight" | "no" | "";
  request: Request;
}

export interface Diagnosis {
  ok: boolean;
  /** A model that is served is asked about: nothing in the answer is a run. */
  inference?: boolean;
  summary: string;
  /** What the text alone says of the run, and what it leaves open. */
  said?: {
    request: Request;
    /** Of "a 24GB card", where none has a name. */
    card_bytes?: number;
    unknown: { pointer: string; message: string }[];
  } | null;
  answers?: Way[];
  /** The remedy of the likeliest cause, as changes of the request: every level of each fix. */
  remedies?: { fix: string; setting: string }[];
  question?: Question | null;
  messages: Message[];
  tensors: Json[];
  /** What the size that failed is a product of, the likeliest first. */
  sizes?: (Failed & { tensor: string; exact: boolean })[];
  causes: Cause[];
  /** The request to make plans for, with the card and the foreign memory that the failure shows. */
  request?: Request | null;
  /** What `request` has beside what was given, as the failure shows it. */
  adjusted?: Adjusted[];
  plans?: Plan[];
  phase?: { id: string; frame: string };
  /** `contradicts`: "at_least" and others, where request and message cannot be of one run; by the request it is `expected`. */
  replay?: { contradicts?: string; explanation?: string; explained?: string; expected?: number } | null;
}

/** A pasted file with changes written back into it (core/report/patch.h). */
export interface Patched {
  ok: boolean;
  /** The text as it was pasted. */
  of: string;
  format?: { id: string; name: string } | null;
  text?: string;
  diff?: string;
  keys?: { pointer: string; key: string; how: "replaced" | "added" | "removed" }[];
  left_out?: { pointer: string; value: Json; why: string }[];
  environment?: Record<string, string>;
  errors: { code: string; message: string; pointer: string; allowed?: string }[];
}

/** What `formats` lists: other tools' files, and tables and lists of ours. */
export interface Format {
  id: string;
  name: string;
  reads: boolean;
  writes: boolean;
  language: string;
}

export interface Exported {
  ok: boolean;
  text?: string;
  left_out?: string[];
  errors: { code: string; message: string; pointer: string; allowed?: string }[];
}
