// Every string of the page is an entry of the English table; another language is another file with the same keys,
// which the compiler checks, fetched only when somebody reads it.
//
//     say("headline.fits", { gpu: "A10G", spare: "8.0 GiB" })     -> "Fits the A10G with 8.0 GiB to spare"
//     parts("lede.peak", { peak: html`<b>14.2 GiB</b>` })         -> pieces for a template
import { markBy, unit, withOwnMarks, type Marks } from "../format.ts";
import type { EN_REST } from "./en-rest.ts";
import { EN } from "./en.ts";

export type Word = keyof typeof EN | keyof typeof EN_REST;
export type Words = Record<Word, string>;

export interface Language {
  words: Words;
  /** What the core has against a request, by the code of the error; what is not in it stays as the core says it. */
  errors: Record<string, string>;
  /** What the core says by an id: "what.weights", "fix.adafactor", "cause.host_ram", "note.no_bf16". */
  core: Record<string, string>;
  /** A formula of the core in this language's words; undefined where it lacks some. */
  formula?: (english: string) => string | undefined;
}

/** Without those of en-rest.ts until they are there; nothing is drawn with them before. */
let english = EN as Words;

/** A new language: one file and one line. Names are written in their own language. */
export const LANGUAGES: Record<string, { name: string; marks?: Marks; load: () => Promise<Language> }> = {
  en: { name: "English", load: () => Promise.resolve({ words: english, errors: {}, core: {} }) },
  de: {
    name: "Deutsch",
    marks: { thousands: "\u202f", decimal: ",", bytes: "Byte", days: "Tage" },
    load: () =>
      import("./de.ts").then(({ DE, ERRORS, CORE, formula }) => ({
        words: DE,
        errors: ERRORS,
        core: CORE,
        formula,
      })),
  },
};

export const LANGUAGE_KEY = "plimsoll-language";

let current = "en";
let words = english;
let errors: Record<string, string> = {};
let core: Record<string, string> = {};
let formula: Language["formula"];

export function addWords(more: Partial<Words>): void {
  english = { ...english, ...more };
  if (current === "en") words = english;
}

export const language = () => current;
/** Language and unit together: what words and sizes are in. */
export const spoken = () => `${current} ${unit()}`;

/** That of the browser where the page has it. */
export const ownLanguage = (): string => navigator.language.slice(0, 2);

/** Resolves to false, and changes nothing, when the language is not known or cannot be fetched. */
export async function speak(id: string): Promise<boolean> {
  const wanted = Object.hasOwn(LANGUAGES, id) ? LANGUAGES[id] : undefined;
  if (!wanted) return false;
  try {
    ({ words, errors, core, formula } = await wanted.load());
  } catch {
    return false;
  }
  current = id;
  markBy(wanted.marks);
  document.documentElement.lang = id;
  return true;
}

/** The pieces of a sentence with its placeholders filled in; {unit} is what sizes are said in. */
export function parts(word: Word, values: Record<string, unknown> = {}): unknown[] {
  return words[word].split(/(\{[a-z_]+\})/).map((piece) => {
    const name = /^\{([a-z_]+)\}$/.exec(piece)?.[1];
    if (name === "unit") return unit();
    return name !== undefined && name in values ? values[name] : piece;
  });
}

export const say = (word: Word, values: Record<string, string | number> = {}): string =>
  parts(word, values).join("");

/** The sentence for an error of the core, where this language has one. */
export const sayError = (code: string): string | undefined =>
  Object.hasOwn(errors, code) ? errors[code] : undefined;

/** What the core says by an id, where this language has it. */
export const sayCore = (id: string): string | undefined => (Object.hasOwn(core, id) ? core[id] : undefined);

/** A formula of the core in this language, where it has the words. */
export function sayFormula(english: string): string | undefined {
  const own = formula?.(english);
  return own === undefined ? undefined : withOwnMarks(own);
}
