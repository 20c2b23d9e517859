// Names of the core's ids, as people say them.
import type { Verdict } from "./contract.ts";
import { EN } from "./words/en.ts";
import { say, type Word } from "./words/say.ts";

/** The word for an id, or the id made readable: the core may know more than this page. */
export function named(words: object, prefix: string, id: string): string {
  const word = `${prefix}.${id}`;
  return Object.hasOwn(words, word) ? say(word as Word) : id.replaceAll("_", " ");
}

/** For the middle of a sentence: "the highest point is in the first optimizer step". */
export const instantPhrase = (id: string) => named(EN, "phrase", id);

export const VERDICTS: Record<Verdict, { readonly word: string; sign: string }> = {
  fits: {
    get word() {
      return say("verdict.fits");
    },
    sign: "✓",
  },
  tight: {
    get word() {
      return say("verdict.tight");
    },
    sign: "≈",
  },
  no: {
    get word() {
      return say("verdict.no");
    },
    sign: "✕",
  },
};
