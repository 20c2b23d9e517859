// What an error message says, and what it comes from.
import { html, nothing, type TemplateResult } from "lit";
import type { Json } from "../contract.ts";
import { share, size } from "../format.ts";
import { EN } from "../words/en.ts";
import { say, type Word } from "../words/say.ts";
import type { Cause, Diagnosis, Message } from "./found.ts";

const SHOWN = 3;

function numberName(id: string): string | undefined {
  const word = `number.${id}`;
  return Object.hasOwn(EN, word) ? say(word as Word) : undefined;
}

function figures(message: Message): TemplateResult {
  const named = Object.entries(message.numbers)
    .map(([id, bytes]) => ({ name: numberName(id), bytes }))
    .filter((each): each is { name: string; bytes: number } => each.name !== undefined);
  return html`<blockquote lang="en">${message.quote}</blockquote>
    ${named.length > 0
      ? html`<dl class="figures">
          ${named.map(
            ({ name, bytes }) =>
              html`<div>
                <dt>${name}</dt>
                <dd>${size(bytes)}</dd>
              </div>`,
          )}
        </dl>`
      : nothing}`;
}

const textOf = (evidence: Json): string =>
  typeof evidence === "string"
    ? evidence
    : typeof evidence === "object" && evidence !== null && !Array.isArray(evidence)
      ? String(evidence["what"] ?? evidence["shown"] ?? evidence["message"] ?? JSON.stringify(evidence))
      : JSON.stringify(evidence);

function cause(one: Cause): TemplateResult {
  return html`<li>
    <b>${one.title}</b> <small>${say("diagnosis.confidence", { share: share(one.confidence, 1) })}</small>
    <p>${one.why}</p>
    ${one.evidence.length > 0
      ? html`<ul>
          ${one.evidence.map((evidence) => html`<li>${textOf(evidence)}</li>`)}
        </ul>`
      : nothing}
    <p><b>${say("diagnosis.remedy")}</b> ${one.remedy}</p>
    ${one.ask ? html`<p><b>${say("diagnosis.ask")}</b> ${one.ask}</p>` : nothing}
  </li>`;
}

export function diagnosis(found: Diagnosis): TemplateResult {
  return html`<section class="found" aria-labelledby="diagnosis-title">
    <h3 id="diagnosis-title">${say("diagnosis.title")}</h3>
    <p lang="en">${found.summary}</p>
    ${found.messages.slice(0, 1).map(figures)}
    ${found.tensors.length > 0
      ? html`<h4>${say("diagnosis.tensors")}</h4>
          <ul class="notes" lang="en">
            ${found.tensors.slice(0, SHOWN).map((tensor) => html`<li>${textOf(tensor)}</li>`)}
          </ul>`
      : nothing}
    <h4>${say("diagnosis.causes")}</h4>
    <ol class="notes" lang="en">
      ${found.causes.slice(0, SHOWN).map(cause)}
    </ol>
    ${found.causes.length > SHOWN
      ? html`<details>
          <summary>${say("diagnosis.more", { count: found.causes.length - SHOWN })}</summary>
          <ol class="notes" lang="en" start=${SHOWN + 1}>
            ${found.causes.slice(SHOWN).map(cause)}
          </ol>
        </details>`
      : nothing}
  </section>`;
}
