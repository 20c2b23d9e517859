// A request and its answer: asked of the core at every change, kept in the address, said to screen readers. What slower parts
// there are follows once the answer is on the screen.
import { LitElement } from "lit";
import { state } from "lit/decorators.js";
import { Address, besideRequest } from "./address.ts";
import type { Advice, CoreError, Refusal, Report, Request, Scenario } from "./contract.ts";
import { headline } from "./headline.ts";
import { decode, sameRequest, tabOf, type Decoded, type Made } from "./link.ts";
import { accepts } from "./lists.ts";
import { changedSince, madeOf } from "./made.ts";
import { isSuperseded, loadMore } from "./more.ts";
import { asFarAsSaid, givenWay, withAdapters } from "./own.ts";
import { amended, type Difference } from "./opening.ts";
import { dotted, get, plain } from "./pointer.ts";
import { FIRST_SCENARIO, isExample } from "./scenarios.ts";
import type { View } from "./view.ts";
import { say } from "./words/say.ts";

const sentence = (error: CoreError) =>
  `${error.pointer.slice(1).replaceAll("/", " ").replaceAll("_", " ")}: ${error.message}`;

const ANNOUNCE_DELAY = 500;
const MORE_DELAY = 80;
const MORE_PARTS = ["timeline", "machines"];

export abstract class Asking extends LitElement {
  @state() protected view: View | undefined;
  @state() protected announcement = "";
  protected readonly address = new Address(() => this.view);
  /** Settles with the last answer that has been asked for. */
  protected answering: Promise<void> = Promise.resolve();
  /** What the whole answer to the opening case says beyond the quick one. */
  protected beyond: Difference = [];
  /** Counts the requests asked, so that a later one is not answered by an earlier one that had to wait. */
  private asked = 0;
  private announceTimer = 0;
  private moreTimer = 0;
  /** What the link says of the answer that is being waited for. */
  private made: Made | undefined;

  /** Settles with the last change of the request that had to wait for what is usual. */
  protected changing: Promise<void> | undefined;

  /** Does what is asked at once; after what waits already, where something does. */
  protected inTurn(change: () => Promise<void> | undefined): void {
    const begun = this.changing ? this.changing.then(change) : change();
    if (!begun) return;
    const turn = begun.finally(() => {
      if (this.changing === turn) this.changing = undefined;
    });
    this.changing = turn;
  }

  /** Whether the whole first view is drawn. */
  protected abstract drawn(): boolean;

  protected ask(request: Request, changes: Partial<View>, text = JSON.stringify(request)): void {
    if (!this.view) return;
    const { core } = this.view;
    const turn = ++this.asked;
    const next: View = {
      ...this.view,
      draft: undefined,
      told: undefined,
      assumed: this.view.assumed.filter(
        (pointer) => get(request, pointer) === get(this.view?.request ?? {}, pointer),
      ),
      undo: undefined,
      done: undefined,
      chosen: [],
      ...changes,
      request,
    };
    if (core.knows(request)) {
      this.settle(next, core.report(text));
      return;
    }
    // The form shows the request meanwhile, beside the last answer where that is to the same model.
    const same = JSON.stringify(request["model"]) === JSON.stringify(this.view.request["model"]);
    const nothing = { report: undefined, more: undefined, advice: undefined, errors: [] };
    this.view = { ...next, ...(same ? {} : nothing), waiting: true };
    this.answering = core.answer(request, text).then(
      (answer) => {
        if (this.asked !== turn || !this.view) return;
        this.settle(this.view, answer);
        this.address.answered();
      },
      (error: unknown) => {
        if (this.asked !== turn || !this.view || isSuperseded(error)) return;
        this.view = { ...this.view, waiting: false };
        this.loadingFailed(error);
      },
    );
  }

  private settle(view: View, answer: Report | Refusal): void {
    if (answer.ok) {
      const known = answer.memory.instants.some((instant) => instant.id === view.instant);
      this.view = {
        ...view,
        waiting: false,
        report: asFarAsSaid(view.request, this.opening(view, answer), view.assumed),
        answered: view.request,
        errors: [],
        more: undefined,
        instant: known ? view.instant : undefined,
        moment: undefined,
      };
      this.askMoreSoon();
    } else {
      this.refused(view, answer);
    }
    this.announceSoon();
  }

  private opening({ core, request }: View, quick: Report): Report {
    const first = core.scenarios.find(({ id }) => id === FIRST_SCENARIO);
    return first && sameRequest(first.request, request) ? amended(quick, this.beyond) : quick;
  }

  private refused(view: View, { errors }: Refusal): void {
    const adapted = withAdapters(view.request, errors);
    if (adapted) {
      this.ask(adapted, { ...view, assumed: [...view.assumed, "/peft"] });
      this.address.write("tweak");
      return;
    }
    // What was wrong before is not mended by a choice of something else.
    const fresh = errors.filter(({ pointer }) => !view.errors.some((old) => old.pointer === pointer));
    const way = givenWay(view.request, view.chosen, fresh, (request) => accepts(view.core, request));
    if (way) {
      const dropped = way.dropped.map(dotted).join(", ");
      const done = say("shown.dropped", { dropped });
      this.ask(way.request, { chosen: view.chosen, undo: view.undo ?? view.request, done });
      this.address.write("tweak");
      return;
    }
    // That no model has been named is a question, not a mistake.
    const nameless = get(view.request, "/model") === undefined;
    this.view = {
      ...view,
      waiting: false,
      report: undefined,
      more: undefined,
      advice: undefined,
      errors: errors.filter(({ pointer }) => !nameless || pointer !== "/model"),
    };
  }

  protected loadingFailed(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    if (this.view) this.view = { ...this.view, notice: say("load.failed", { why }) };
  }

  /** The slower parts follow once the answer is painted and no key has been pressed for a moment. */
  protected askMoreSoon(): void {
    // A slow phone takes longer than the delay to draw the first answer, and fetches nothing else before.
    if (!this.drawn()) return;
    window.clearTimeout(this.moreTimer);
    this.moreTimer = window.setTimeout(() => void this.askMore(), MORE_DELAY);
  }

  /** Plans for other sizes than the chosen card's take as long as all the rest: they wait until one is looked at. */
  private wanted(): string[] {
    return this.view?.report?.gpu && this.view.planTier === undefined ? ["gpu_only"] : [];
  }

  private async askMore(): Promise<void> {
    const { view, asked } = this;
    if (!view?.report || view.waiting) return;
    const { request, kept } = view;
    try {
      const core = await loadMore();
      const wanted = this.wanted();
      const [more, advice, comparison] = await Promise.all([
        core.report(request, MORE_PARTS),
        core.advise({ ...request, want: [...wanted, "no_limits"] }),
        kept ? core.compare(kept, request) : undefined,
      ]);
      if (asked !== this.asked || !this.view) return;
      const { limits = null, rent = null } = this.view.advice ?? {};
      // The whole report simulates the caching allocator, where the quick one takes what it usually holds.
      const simulated = more.ok ? { more, report: asFarAsSaid(request, more, this.view.assumed) } : {};
      this.view = {
        ...this.view,
        ...simulated,
        advice: this.asFarAsKnown({ ...advice, limits, rent }),
        advised: request,
        comparison: this.view.kept ? comparison : undefined,
      };
      this.compareWithLink();
      this.address.answered();
      this.announceSoon();
      // How far it could go and what it costs elsewhere take as long as its plans, and are not waited for.
      const whole = await core.advise({ ...request, want: [...wanted, "rent"] });
      if (asked === this.asked && this.view)
        this.view = { ...this.view, advice: this.asFarAsKnown(whole), advised: request, limited: request };
    } catch (error) {
      if (!isSuperseded(error)) this.loadingFailed(error);
    }
  }

  /** No plan is for a card before the run is known. */
  private asFarAsKnown(advice: Advice): Advice {
    return this.view?.report?.gpu ? advice : { ...advice, gpu: null };
  }

  protected announceSoon(): void {
    window.clearTimeout(this.announceTimer);
    this.announceTimer = window.setTimeout(() => {
      const { report, errors } = this.view ?? {};
      if (errors && errors.length > 0) {
        this.announcement = say("errors.announce", { errors: errors.map(sentence).join(" ") });
      } else {
        this.announcement = `${headline(report, this.view?.request)}.`;
      }
      // Tabs, bookmarks and the history name the run.
      if (report && this.view && !isExample(this.view)) {
        document.title = `${this.announcement} ${plain(this.view.request["model"] ?? null)}`;
      }
    }, ANNOUNCE_DELAY);
  }

  protected scenarioOf(request: Request): Scenario | undefined {
    return this.view?.core.scenarios.find((scenario) => sameRequest(scenario.request, request));
  }

  protected readLink(): void {
    this.address.stop();
    if (!this.view) return;
    const decoded = decode(window.location.hash);
    this.view = { ...this.view, tab: tabOf(window.location.hash) };
    const { scenarios: known } = this.view.core;
    const first = known.find(({ id }) => id === FIRST_SCENARIO) ?? known[0];
    const beside = { ...besideRequest(), kept: this.view.kept ?? besideRequest().kept };
    const fresh = { typed: new Map<string, string>(), instant: undefined, notice: undefined, ...beside };
    if (this.isShown(decoded, beside)) {
      const compared = beside.kept !== this.view.kept;
      this.view = { ...this.view, ...beside };
      if (compared) this.askMoreSoon();
    } else if (decoded.kind === "request") {
      this.made = decoded.made;
      const notice = decoded.unchecked ? say("link.unchecked") : undefined;
      this.ask(decoded.request, { ...fresh, notice, origin: this.scenarioOf(decoded.request) });
    } else if (decoded.kind === "empty") {
      this.ask(first?.request ?? {}, { ...fresh, origin: first });
    } else if (this.view.report || this.view.errors.length > 0) {
      this.view = { ...this.view, notice: decoded.message };
    } else {
      this.ask(first?.request ?? {}, { ...fresh, origin: first, notice: decoded.message });
    }
  }

  /** A step through the tabs asks nothing anew. */
  private isShown(decoded: Decoded, { assumed }: Pick<View, "assumed">): boolean {
    const { view } = this;
    if (decoded.kind !== "request" || !view?.report) return false;
    return sameRequest(decoded.request, view.request) && `${assumed}` === `${view.assumed}`;
  }

  private compareWithLink(): void {
    const { view, made } = this;
    this.made = undefined;
    const notice = view && madeOf(view) && view.report ? changedSince(made, view.report) : undefined;
    if (view && notice !== undefined) this.view = { ...view, notice };
  }
}
