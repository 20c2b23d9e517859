// A run that somebody says in words: "QLoRA of Llama 3.1 8B on a 4090 at 4k".
import { html, nothing, type TemplateResult } from "lit";
import type { Request } from "../contract.ts";
import type { More } from "../more.ts";
import { ACCUMULATION, BATCH, AUTOCAST, CHECKPOINTING, COUNT } from "../own.ts";
import { get, put } from "../pointer.ts";
import { say } from "../words/say.ts";
import type { Adjusted, Diagnosis, Imported } from "./found.ts";

/** What an answer takes where the question says nothing; a length is asked for instead. */
export const TAKEN = [BATCH, ACCUMULATION, CHECKPOINTING, "/stack", ...AUTOCAST];
const METHOD = ["/peft", "/quantization"];
/** "An A100" is one of several sizes: the smallest is taken, and asked for. */
const CARD = "/hardware/gpu";

const LINE = 400;
/** A line that names a run asks whether it fits. */
const QUESTION = "Will it fit? ";

/** A trainer that is known and not replayed: no question about the run of another, however short its command. */
export const isRefused = (imported: Imported | undefined): boolean =>
  imported?.format !== undefined && imported.errors.some(({ code }) => code === "unsupported");

/** Whether the verdict card answers what is asked; which model fits, the text beside the box does. `led`: no model is named. */
export const isCardsAnswer = (found: Diagnosis | undefined, led: boolean): boolean =>
  found?.inference !== true &&
  (found?.messages.length ?? 0) === 0 &&
  !(led && (found?.answers?.length ?? 0) > 0);

/** Whether it says a run of its own, in words. */
export const isQuestion = ({ said, messages }: Diagnosis): boolean =>
  messages.length === 0 && said?.request["model"] !== undefined;

/** Where there are no settings in the text, a line of it may be a question. */
export async function diagnose(
  core: More,
  text: string,
  under: Request | undefined,
  answers: string[],
  imported: Imported | undefined,
): Promise<Diagnosis> {
  const refused = isRefused(imported);
  const alone = !imported?.request && !refused;
  const found = await core.diagnose(text, under, answers.join(" "));
  if (refused && found.messages.length === 0) return { ...found, ok: false };
  return found.ok || !alone || text.length >= LINE ? found : core.diagnose(`${QUESTION}${text}`, under, "");
}

/** What fits into a line was meant to say a run. */
const isLine = (text: string): boolean => text.length < LINE && !text.trim().includes("\n");

const added = (run: Request, more: Adjusted[]): Request =>
  more
    .filter(({ pointer }) => get(run, pointer) === undefined)
    .reduce((under, { pointer, value }) => put(under, pointer, value), run);

/** What the size that failed proves of a run and nobody says: its micro-batch, its length. */
export const proven = (found: Diagnosis | undefined, run: Request): Request =>
  added(
    run,
    (found?.adjusted ?? []).filter((one) => one.proven === true),
  );

/** The type of the weights, where nobody says it and what failed shows it: with another the run would not have died. */
const shown = ({ adjusted = [] }: Diagnosis, run: Request): Request =>
  added(
    run,
    adjusted.filter(({ pointer }) => pointer.startsWith("/model_args/")),
  );

/** As the answer to the question takes it; of the ways in which several cards may share it none. */
export function askedRun(found: Diagnosis): { request: Request; taken: string[] } | undefined {
  const { said, answers } = found;
  if (!said || said.request["model"] === undefined) return undefined;
  const ways = (answers ?? []).map(({ request }) => request);
  const alone = put(ways[0] ?? said.request, "/parallel", said.request["parallel"]);
  const counts = new Set(ways.map((way) => get(way, COUNT)));
  const [count] = counts;
  const several = counts.size === 1 && typeof count === "number" && count > 1;
  const known = proven(found, said.request);
  const run = proven(found, shown(found, several ? put(alone, COUNT, count) : alone));
  const open = said.unknown.filter(
    ({ pointer }) => pointer.endsWith("_length") && get(known, pointer) === undefined,
  );
  const methodOpen = said.unknown.some(({ pointer }) => pointer === METHOD[0]);
  return {
    request: open.reduce((under, { pointer }) => put(under, pointer, undefined), run),
    taken: [...TAKEN, CARD, ...(methodOpen ? METHOD : [])].filter(
      (pointer) => get(run, pointer) !== undefined && get(known, pointer) === undefined,
    ),
  };
}

/** A question that names no model: what it says, and what its answer takes beside that. */
export function askedOpen({ said, answers }: Diagnosis): Request {
  const [way] = answers ?? [];
  return TAKEN.reduce(
    (under, pointer) =>
      get(under, pointer) === undefined ? put(under, pointer, get(way?.request ?? {}, pointer)) : under,
    said?.request ?? {},
  );
}

/** Once it is the request: one line. */
export const said = (text: string, link: boolean, acts: unknown): TemplateResult =>
  html`<section class="found" aria-labelledby="asked-title">
    <div class="line">
      <h2 id="asked-title">${say(link ? "paste.link" : "diagnosis.asked")}</h2>
      <small>${text}</small> ${acts}
    </div>
  </section>`;

/** Of a text that says nothing of a run. */
export function unread(text: string, imported: Imported): TemplateResult {
  // A command is no question that was worded badly, though it fits into a line.
  const explained = isRefused(imported) || imported.errors.some(({ code }) => code === "settings_elsewhere");
  if (isLine(text) && !explained) return html`<p class="complaint">${say("paste.no_run")}</p>`;
  const why = imported.errors.map(({ message }) => message).join(" ");
  const instead = explained ? imported.errors[0]?.allowed : undefined;
  return html`<p class="complaint"><span lang="en">${why}</span></p>
    ${instead ? html`<p>${say("paste.instead")} <span lang="en">${instead}.</span></p>` : nothing}`;
}
