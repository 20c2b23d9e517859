// What the core says in English, or this language's words for it, marked with the language that it is in.
//
//     coreWords("fix.lower_rank", change.title)     -> <span lang="en">Lower rank</span>
import { html, type TemplateResult } from "lit";
import { sayCore } from "./say.ts";

export const coreWords = (
  id: string,
  english: string,
  values: Record<string, string> = {},
): TemplateResult | string =>
  sayCore(id)?.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole) ??
  html`<span lang="en">${english}</span>`;

/** The gist in this language, and the English text behind a fold; where there is no gist, the text. */
export function gist(id: string, english: unknown, summary: string): TemplateResult {
  const words = sayCore(id);
  return words === undefined
    ? html`<span lang="en">${english}</span>`
    : html`${words}
        <details class="original">
          <summary>${summary}</summary>
          <p lang="en">${english}</p>
        </details>`;
}
