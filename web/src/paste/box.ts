// One box for whatever people have: a configuration, an error message, a command line, or all in one. What is pasted,
// dropped or picked is applied at once and can be undone. What is typed is applied as it is typed while the page shows nobody's
// own run, so that nobody reads an example's answer below it; else it waits for a button.
import "../words/add-rest.ts";
import { html, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import type { Request } from "../contract.ts";
import { isSuperseded, loadMore } from "../more.ts";
import { COUNT, saysMethod, unsaid } from "../own.ts";
import { say } from "../words/say.ts";
import { diagnosis } from "./diagnosis.ts";
import { Applied } from "./applied.ts";
import { area } from "./area.ts";
import { isPart, pointers } from "./combined.ts";
import { askedOpen, askedRun, diagnose, isCardsAnswer, isQuestion, said, TAKEN, unread } from "./asked.ts";
import { acts, findings } from "./findings.ts";
import { fromAnywhere, readFiles } from "./anywhere.ts";
import { isOwnTable, linked } from "./own-text.ts";
import { patched } from "./patched.ts";
import type { Failed } from "./used.ts";
import {
  allTogether,
  changedBy,
  DIED,
  failedIn,
  machineOf,
  modelAlone,
  readRun,
  wholeOf,
} from "./together.ts";

const DELAY = 250;

@customElement("plimsoll-paste")
export class PlimsollPaste extends Applied {
  /** Whether enough of it is known for a verdict on its card. */
  @property({ attribute: false }) known = false;
  /** Whether a plan has been applied to it: what died was another run. */
  @property({ attribute: false }) mended = false;
  /** Language and unit that its words and sizes are in: with another, all of it is drawn anew. */
  @property({ attribute: false }) spoken = "";
  private taking: Promise<void> = Promise.resolve();
  /** What is said of the failure was said before the number of its cards was known. */
  @state() private stale = false;
  private names = new Map<string, string>();
  private stop: () => void = () => undefined;
  private timer = 0;
  private pasted = false;
  /** What the page was told of the size that failed. */
  private failed: Failed | undefined;

  protected override createRenderRoot(): this {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.stop = fromAnywhere({
      files: (files) => void this.takeFiles(files),
      text: (text) => this.take([text]),
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stop();
  }

  protected override updated(): void {
    this.toggleAttribute("data-read", this.replaced !== undefined);
    const detail = failedIn(this.diagnosed);
    if (detail?.tokens === this.failed?.tokens && detail?.model === this.failed?.model) return;
    this.failed = detail;
    this.dispatchEvent(new CustomEvent("failed", { detail }));
  }

  protected override willUpdate(changed: Map<string, unknown>): void {
    super.willUpdate(changed);
    if (!changed.has("request")) return;
    if (this.follows) this.followed = this.request;
    this.follows = false;
    this.past ||= this.mended;
    if (this.becomes || this.isOfText()) this.became = { request: this.request, assumed: this.assumed };
    this.becomes = false;
    const counted = this.isCounted();
    if (this.origin) void this.writeBack();
    if (this.diagnosed?.ok && !this.past && (!wholeOf(this.imported) || counted)) {
      this.stale = counted;
      void this.explain(this.text, counted).then(() => (this.stale = false));
    }
  }

  protected override shownAnew(): void {
    window.clearTimeout(this.timer);
    this.told = "";
    this.follows = false;
    this.becomes = false;
    this.followed = undefined;
  }

  private async takeFiles(files: File[]): Promise<void> {
    const { texts, problem } = await readFiles(files, this.names);
    if (problem) this.problem = problem;
    if (texts.length > 0) this.take(texts);
  }

  /** Reads texts and applies what they say, with what was pasted before them where all are of one run. */
  take(texts: string[]): void {
    // What is pasted before the last has been read waits for it, and goes with it.
    this.taking = this.taking.then(() => this.readTogether(texts));
  }

  private async readTogether(given: string[]): Promise<void> {
    const fresh = given.join("\n\n");
    this.hold();
    this.text = fresh;
    this.leftOut = [];
    this.answers = [];
    this.past = false;
    this.became = undefined;
    this.replaced = undefined;
    this.diagnosed = undefined;
    await this.updateComplete;
    this.earlier = this.example ? [] : this.texts;
    const { texts, out } = await loadMore()
      .then((core) => allTogether(core, this.earlier, given))
      .catch(() => ({ texts: given, out: [] }));
    if (this.text !== fresh) return;
    this.texts = texts;
    this.leftOut = out.map((text) => this.names.get(text) ?? "");
    this.text = texts.join("\n\n");
    await this.read(true);
  }

  private readSoon(text: string): void {
    if (!this.free()) {
      this.hold();
      this.became = undefined;
      this.followed = undefined;
    }
    this.text = text;
    this.texts = [text];
    this.earlier = [];
    this.leftOut = [];
    this.answers = [];
    this.past = false;
    window.clearTimeout(this.timer);
    const atOnce = this.pasted;
    this.pasted = false;
    this.timer = window.setTimeout(() => void this.read(atOnce), atOnce ? 0 : DELAY);
  }

  private async read(apply: boolean): Promise<void> {
    const { text } = this;
    this.problem = "";
    this.led = false;
    this.cards = undefined;
    const link = linked(text);
    if (text.trim() === "" || link || isOwnTable(text)) {
      this.imported = undefined;
      this.diagnosed = undefined;
      if (link) this.takeSaid(link, undefined, !apply && this.free());
      else if (text.trim() !== "") this.problem = say("paste.own_table");
      return;
    }
    try {
      const core = await loadMore();
      const imported = await readRun(core, this.texts, text);
      if (text !== this.text) return;
      this.imported = imported;
      // The card is known by the message, where the text has one.
      const died = DIED.test(text);
      const config = imported.ok && imported.request && !this.isBanner() ? imported.request : undefined;
      const takes = apply || this.free();
      const use = takes && config && imported.ok ? () => this.use(config, !apply) : undefined;
      if (!died) use?.();
      await this.explain(text);
      if (died && text === this.text) use?.();
      const { diagnosed } = this;
      if (text !== this.text || config) return;
      const over = apply && !this.free();
      const alone = over ? modelAlone(text, diagnosed) : undefined;
      const changed = alone ?? (over ? await changedBy(core, this.request, text, diagnosed) : undefined);
      if (changed)
        this.leave({ request: changed, chosen: pointers(alone ?? {}), model: alone !== undefined });
      if (changed || text !== this.text || !diagnosed?.ok || diagnosed.inference) return;
      const asked = askedRun(diagnosed);
      if (asked && takes) {
        this.takeSaid(asked.request, asked.taken, !apply);
        return;
      }
      // What died is the person's own run: nothing of an example explains it. How it was trained its frames may show.
      if (!this.free() || asked) return;
      const request = askedOpen(diagnosed);
      this.led = diagnosed.messages.length === 0;
      const taken = Object.keys(request).length > 0 ? { taken: TAKEN } : {};
      const model = diagnosed.answers?.[0]?.request["model"];
      const like = typeof model === "string" ? model : undefined;
      this.hand({ request, chosen: [], ...machineOf(diagnosed), like, follows: !apply, ...taken });
    } catch (error) {
      if (isSuperseded(error)) return;
      this.problem = say("paste.failed", { why: error instanceof Error ? error.message : String(error) });
    }
  }

  /** `answered`: the page's run is that of the text, and more of it is known. */
  private async explain(text: string, answered = false): Promise<void> {
    try {
      const core = await loadMore();
      // What is taken for a run whose method nobody has said yet explains no failure.
      const own = this.own();
      const under =
        (answered ? this.request : wholeOf(this.imported)) ??
        (own && saysMethod(own, this.assumed) ? own : undefined);
      const diagnosed = await diagnose(core, text, under, this.answers, this.imported);
      if (text !== this.text) return;
      this.diagnosed = diagnosed;
      this.explained = text;
    } catch (error) {
      if (!isSuperseded(error)) throw error;
    }
  }

  private answer(question: string, choice: string): void {
    this.answers = [...this.answers, `${question}=${choice}`];
    void this.explainAgain();
  }

  /** The question that had the focus is gone: the next one has it, or what is said now. */
  private async explainAgain(): Promise<void> {
    await this.explain(this.text);
    await this.updateComplete;
    if (document.activeElement !== document.body) return;
    this.querySelector<HTMLElement>(".found .ask button, #diagnosis-title")?.focus();
  }

  private change(): void {
    this.replaced = undefined;
    void this.updateComplete.then(() => this.querySelector("textarea")?.focus());
  }

  private acts(request: Request | null | undefined): TemplateResult | typeof nothing {
    const left = this.isLeft();
    const does = left
      ? say(request ? "paste.back" : "paste.back_said")
      : request && !this.became
        ? say(isPart(this.imported) ? "paste.add" : "paste.use")
        : undefined;
    return acts(this.replaced !== undefined, does, left, {
      change: () => this.change(),
      undo: () => this.undo(),
      use: () => (left ? this.back() : request && this.use(request)),
    });
  }

  protected override render(): TemplateResult {
    const { imported, diagnosed } = this;
    const failure = diagnosed?.ok === true;
    const config = imported && !this.isBanner() && (imported.ok || (imported.format && imported.request));
    // The card answers a question that has become the request.
    const isRequest = this.replaced !== undefined || this.became !== undefined || this.led;
    const asked = isRequest && isCardsAnswer(diagnosed, this.led && this.request["model"] === undefined);
    const ofPage = !wholeOf(this.imported) && this.own() !== undefined;
    return html`<section class="paste" aria-label=${say("paste.label")}>
      ${this.replaced
        ? nothing
        : area(this.text, {
            pastes: () => (this.pasted = true),
            input: (text) => this.readSoon(text),
            files: (files) => void this.takeFiles(files),
          })}
      <div aria-live="polite">
        ${this.problem ? html`<p class="complaint">${this.problem}</p>` : nothing}
        ${this.leftOut.length > 0
          ? html`<p class="complaint">${say("paste.left_out", { names: this.leftOut.join(", ") })}</p>`
          : nothing}
        ${config ? findings(imported, this.acts(imported.request)) : nothing}
        ${asked && !config && (this.replaced || this.isLeft())
          ? said(this.replaced ? this.text : "", diagnosed === undefined, this.acts(undefined))
          : nothing}
        ${failure && diagnosed && !asked
          ? diagnosis(
              diagnosed,
              {
                ofPage,
                known: this.known && !this.past,
                open:
                  this.stale ||
                  this.past ||
                  this.isLeft() ||
                  unsaid(this.request, undefined, []).includes(COUNT),
              },
              {
                // What was answered since stays; of the run of an example, or of another than the text says, nothing does.
                apply: (plan) =>
                  this.applyPlan(
                    (this.free() || isQuestion(diagnosed) ? diagnosed.request : undefined) ?? this.request,
                    plan,
                  ),
                answer: (question, choice) => this.answer(question, choice),
                take: (request) => this.takeSaid(request, []),
              },
              config ? nothing : this.acts(undefined),
            )
          : nothing}
        ${this.patches.map((patch) =>
          patched(patch, this.patches, this.names, this.told, (done) => (this.told = done)),
        )}
        ${imported && !config && !failure && !isRequest && this.explained === this.text
          ? unread(this.text, imported)
          : nothing}
      </div>
    </section>`;
  }
}
