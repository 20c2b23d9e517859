// Every string of the page is an entry of the English table; another language is another file with the same keys,
// which the compiler checks, fetched only when somebody reads it.
//
//     say("headline.fits", { gpu: "A10G", spare: "8.0 GiB" })     -> "Fits the A10G with 8.0 GiB to spare"
//     parts("lede.peak", { peak: html`<b>14.2 GiB</b>` })         -> pieces for a template
import { EN } from "./en.ts";

export type Word = keyof typeof EN;
export type Words = Record<Word, string>;

export interface Language {
  words: Words;
  /** What the core has against a request, by the code of the error; what is not in it stays as the core says it. */
  errors: Record<string, string>;
}

/** A new language: one file and one line. Names are written in their own language. */
export const LANGUAGES: Record<string, { name: string; load: () => Promise<Language> }> = {
  en: { name: "English", load: () => Promise.resolve({ words: EN, errors: {} }) },
  de: {
    name: "Deutsch",
    load: () => import("./de.ts").then(({ DE, ERRORS }) => ({ words: DE, errors: ERRORS })),
  },
};

export const LANGUAGE_KEY = "plimsoll-language";

let current = "en";
let words: Words = EN;
let errors: Record<string, string> = {};

export const language = () => current;

/** Resolves to false, and changes nothing, when the language is not known or cannot be fetched. */
export async function speak(id: string): Promise<boolean> {
  const wanted = Object.hasOwn(LANGUAGES, id) ? LANGUAGES[id] : undefined;
  if (!wanted) return false;
  try {
    ({ words, errors } = await wanted.load());
  } catch {
    return false;
  }
  current = id;
  document.documentElement.lang = id;
  return true;
}

/** The pieces of a sentence with its placeholders filled in. */
export function parts(word: Word, values: Record<string, unknown> = {}): unknown[] {
  return words[word].split(/(\{[a-z_]+\})/).map((piece) => {
    const name = /^\{([a-z_]+)\}$/.exec(piece)?.[1];
    return name !== undefined && name in values ? values[name] : piece;
  });
}

export const say = (word: Word, values: Record<string, string | number> = {}): string =>
  parts(word, values).join("");

/** The sentence for an error of the core, where this language has one. */
export const sayError = (code: string): string | undefined =>
  Object.hasOwn(errors, code) ? errors[code] : undefined;
