// What an error message says, and what it comes from.
import { html, nothing, type TemplateResult } from "lit";
import type { Json, Plan, Request } from "../contract.ts";
import { sizeWords, share, size } from "../format.ts";
import { setting } from "../advice/fixes.ts";
import { dotted } from "../pointer.ts";
import { coreWords } from "../words/core-words.ts";
import { EN_REST } from "../words/en-rest.ts";
import { language, say, sayCore, type Word } from "../words/say.ts";
import type { Cause, Diagnosis, Message, Question } from "./found.ts";

const SHOWN = 3;

function numberName(id: string): string | undefined {
  const word = `number.${id}`;
  return Object.hasOwn(EN_REST, word) ? say(word as Word) : undefined;
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
    <b>${coreWords(`cause.${one.id}`, one.title)}</b>
    <small lang=${language()}>${say("diagnosis.confidence", { share: share(one.confidence, 1) })}</small>
    <p>${one.why}</p>
    ${one.evidence.length > 0
      ? html`<ul>
          ${one.evidence.map((evidence) => html`<li>${textOf(evidence)}</li>`)}
        </ul>`
      : nothing}
    <p><b>${say("diagnosis.remedy")}</b> ${coreWords(`remedy.${one.case ?? one.id}`, one.remedy)}</p>
    ${one.ask ? html`<p><b>${say("diagnosis.ask")}</b> ${one.ask}</p>` : nothing}
  </li>`;
}

/** Where request and message cannot be of one run: that, and what explains it. */
function contradiction({ messages, replay }: Diagnosis): TemplateResult | typeof nothing {
  const { allocated } = messages[0]?.numbers ?? {};
  const { contradicts, explanation, explained, expected } = replay ?? {};
  if (!contradicts || expected === undefined || allocated === undefined) return nothing;
  return html`<p>
    ${sayCore(`contradicts.${contradicts}`)
      ?.replace("{expected}", size(expected))
      .replace("{shown}", size(allocated))}
    ${coreWords(`explains.${explanation}`, explained ?? "")}
  </p>`;
}

/** Its figures in the page's language; what the core says of them stays behind a fold. */
function summary(found: Diagnosis): TemplateResult {
  const { messages, summary: english } = found;
  const { tried, free, capacity } = messages[0]?.numbers ?? {};
  if (language() === "en" || tried === undefined || free === undefined || capacity === undefined)
    return html`<p lang="en">${english}</p>`;
  const figures = { tried: size(tried), free: size(free), capacity: size(capacity) };
  return html`${contradiction(found)}
    <p>${say("diagnosis.sum", figures)}</p>
    <details class="original">
      <summary>${say("notes.original")}</summary>
      <p lang="en">${english}</p>
    </details>`;
}

/** The likeliest cause: what it is, the first thing that speaks for it, what helps and how it is set. */
function likeliest(one: Cause, remedies: Diagnosis["remedies"] = []): TemplateResult {
  const [evidence] = one.evidence;
  const first = remedies.filter((fix, i) => remedies.findIndex((other) => other.fix === fix.fix) === i);
  return html`<div class="likeliest">
    <h3>${coreWords(`cause.${one.id}`, one.title)}</h3>
    <p lang="en">${evidence === undefined ? one.why : textOf(evidence)}</p>
    <p><b>${say("diagnosis.remedy")}</b> ${coreWords(`remedy.${one.case ?? one.id}`, one.remedy)}</p>
    ${first.map((fix) => html`<p><code lang="en">${fix.setting}</code></p>`)}
  </div>`;
}

/** The request that a question says, in each way that it leaves open. */
function answers(found: Diagnosis, take: Acts["take"]): TemplateResult | typeof nothing {
  const ways = found.answers ?? [];
  if (ways.length === 0) return nothing;
  const unknown = found.said?.unknown ?? [];
  return html`<ul class="ways" lang="en">
      ${ways.map(
        (one) =>
          html`<li>
            <span
              >${one.name}: <b>${size(one.needed)}</b>${one.usable
                ? html` / ${size(one.usable)}`
                : nothing}</span
            >
            <button type="button" @click=${() => take(one.request)}>${say("paste.use")}</button>
          </li>`,
      )}
    </ul>
    ${unknown.length > 0
      ? html`<p>
          <b>${say("diagnosis.unknown")}</b>
          <span lang="en">${unknown.map((one) => one.message).join("; ")}</span>
        </p>`
      : nothing}`;
}

/** What gets the run past it, proven by an estimate; applied with one click. */
function way(plan: Plan, ofPage: boolean, apply: () => void): TemplateResult {
  return html`<div class="way">
    <p>
      ${say("diagnosis.plan", { size: sizeWords(plan.peak.device) })}
      ${ofPage ? html`<small>${say("diagnosis.of_page")}</small>` : nothing}
    </p>
    <ul>
      ${plan.changes.map(
        (change) =>
          html`<li>
            <code>${dotted(change.pointer)}</code> ${setting(change.from)} →
            <b>${setting(change.to)}</b>
          </li>`,
      )}
    </ul>
    <button type="button" class="apply" @click=${apply}>${say("plan.apply")}</button>
  </div>`;
}

/** What divides the likeliest causes best, one click each. */
function question(one: Question, answer: Acts["answer"]): TemplateResult {
  const text = `question.${one.id}`;
  return html`<div class="ask" role="group" aria-label=${sayCore(text) ?? one.text}>
    <b>${coreWords(text, one.text)}</b>
    ${one.choices.map(
      (choice) =>
        html`<button type="button" title=${choice.means} @click=${() => answer(one.id, choice.id)}>
          ${coreWords(`choice.${choice.id}`, choice.text)}
        </button>`,
    )}
  </div>`;
}

const fold = (title: string, body: unknown): TemplateResult =>
  html`<details>
    <summary>${title}</summary>
    ${body}
  </details>`;

export interface Acts {
  /** Makes the request what a plan makes of it. */
  apply(plan: Plan): void;
  answer(question: string, choice: string): void;
  /** Makes a request of the text that of the page. */
  take(request: Request): void;
}

/**
 * `ofPage`: no configuration came with the message; then nothing helps a run that the page does not know yet. `open`: nor one that
 * an unknown number of cards shares. `does`: what can be done with the text.
 */
export function diagnosis(
  found: Diagnosis,
  { ofPage, known, open }: { ofPage: boolean; known: boolean; open: boolean },
  acts: Acts,
  does: unknown,
): TemplateResult {
  const [first] = found.causes;
  const [plan] = open || (ofPage && !known) ? [] : (found.plans ?? []);
  return html`<section class="found" aria-labelledby="diagnosis-title">
    <div class="line">
      <h2 id="diagnosis-title" tabindex="-1">
        ${say(found.said && found.messages.length === 0 ? "diagnosis.asked" : "diagnosis.title")}
      </h2>
      ${does}
    </div>
    ${summary(found)} ${first ? likeliest(first, found.remedies) : nothing} ${answers(found, acts.take)}
    ${found.question ? question(found.question, acts.answer) : nothing}
    ${plan
      ? way(plan, ofPage && found.said?.request["model"] === undefined, () => acts.apply(plan))
      : nothing}
    <div class="folds">
      ${found.tensors.length > 0
        ? fold(
            say("diagnosis.tensors"),
            html`<ul class="notes" lang="en">
              ${found.tensors.slice(0, SHOWN).map((tensor) => html`<li>${textOf(tensor)}</li>`)}
            </ul>`,
          )
        : nothing}
      ${found.messages.length > 0
        ? fold(say("diagnosis.figures"), found.messages.slice(0, 1).map(figures))
        : nothing}
      ${found.causes.length > 0
        ? fold(
            say("diagnosis.causes", { count: found.causes.length }),
            html`<ol class="notes" lang="en">
              ${found.causes.map(cause)}
            </ol>`,
          )
        : nothing}
    </div>
  </section>`;
}
