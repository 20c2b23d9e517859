// What the box hands to the page.
import type { Request } from "../contract.ts";

/** How many tokens of a micro-batch the size that failed is; in the model of this id, or in that of the request. */
export interface Failed {
  tokens: number;
  model: string;
}

/** Somebody wants to use what was read; `chosen` is what is new in it, by pointer. */
export interface Used {
  request: Request;
  chosen: string[];
  /** What the card has, by an error message that names none. */
  capacity?: number | undefined;
  /** It ran out of memory, by a message of the text. */
  died?: boolean;
  /** How many processes train together, as far as an error message shows it. */
  ranks?: number;
  /** The model that a text was answered for, where it says how large its own is and not its name. */
  like?: string | undefined;
  /** Of a run that somebody said in words: what was taken for it, by pointer. */
  taken?: string[];
  /** Of a file: what was filled in for it and is asked for, by pointer. */
  open?: string[];
  /** It is a model and nothing else: chosen like one of the list. */
  model?: boolean;
  /** It follows what is being typed: one step back leads to what was there before. */
  follows?: boolean;
}
export type UseEvent = CustomEvent<Used>;
