// Why a component is as large as it is: what it is, its bytes, the formula in words, the source, and the tensors in it.
import { html, nothing, type TemplateResult } from "lit";
import type { Alive } from "./alive.ts";
import type { Component } from "./contract.ts";
import { count, size } from "./format.ts";
import { coreWords } from "./words/core-words.ts";
import { say, sayFormula } from "./words/say.ts";

export function source(text: string): TemplateResult | string {
  return /^https:\/\/\S+$/.test(text) ? html`<a href=${text} rel="noopener noreferrer">${text}</a>` : text;
}

/** The way to a word of the glossary. */
export const glossary = (id: string): TemplateResult =>
  html`<a class="term" href="./docs/glossary.html#${id}">${say("why.glossary")}</a>`;

const SHOWN = 12;

function tensors(id: string, alive: Alive[]): TemplateResult | typeof nothing {
  const rows = alive.filter((row) => row.component === id);
  if (rows.length === 0) return nothing;
  return html`<dt>${say("why.tensors")}</dt>
    <dd>
      <ul class="tensors">
        ${rows
          .slice(0, SHOWN)
          .map(
            (row) =>
              html`<li>
                ${count(row.count)} × ${coreWords(`tensor.${row.what}`, row.what)}: ${size(row.bytes)}
              </li>`,
          )}
      </ul>
      ${rows.length > SHOWN ? say("why.more_tensors", { count: rows.length - SHOWN }) : nothing}
    </dd>`;
}

/** `alive`: the tensors of the moment. */
export function componentWhy(component: Component, alive: Alive[]): TemplateResult {
  const formula = sayFormula(component.formula);
  return html`<dl>
    <dt>${say("breakdown.bytes")}</dt>
    <dd>${count(component.bytes)}</dd>
    <dt>${say("breakdown.formula")}</dt>
    <dd class="formula" lang=${formula === undefined ? "en" : nothing}>${formula ?? component.formula}</dd>
    ${tensors(component.id, alive)}
    ${component.source
      ? html`<dt>${say("breakdown.source")}</dt>
          <dd lang="en">${source(component.source)}</dd>`
      : nothing}
    <dt>${say("why.word")}</dt>
    <dd>${glossary(component.id)}</dd>
  </dl>`;
}
