// The page's one element: holds the request, asks the core on every change, draws the parts.
import { LitElement, nothing, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import type { Core } from "./core.ts";
import type { CoreError, Json, Refusal, Report, Request, Scenario } from "./contract.ts";
import { elementFor } from "./form.ts";
import { measureIn, UNIT_KEY, type Unit } from "./format.ts";
import { headline } from "./headline.ts";
import { decode, encode, sameRequest, tabOf, withTab, type Made } from "./link.ts";
import { accepts } from "./lists.ts";
import { madeOf } from "./made.ts";
import { isSuperseded, loadMore } from "./more.ts";
import {
  asFarAsSaid,
  begins,
  BATCH,
  besideMethod,
  besideTask,
  changed,
  givenWay,
  NEUTRAL,
  saidEdits,
  type Edit,
} from "./own.ts";
import { dotted, get, isObject, plain, put } from "./pointer.ts";
import { pause } from "./presets.ts";
import { keepOffline } from "./offline.ts";
import { page, STAGES } from "./page.ts";
import type { Used } from "./paste/box.ts";
import type { Rest } from "./rest.ts";
import type { FigureId } from "./figures.ts";
import { FIRST_SCENARIO, isExample } from "./scenarios.ts";
import { showForm } from "./sheet.ts";
import { asTheme, remember, remembered, wear, type Theme } from "./theme.ts";
import { firstView, PHONE, type Actions, type How, type View } from "./view.ts";
import { LANGUAGE_KEY, say, speak } from "./words/say.ts";

const sentence = (error: CoreError) =>
  `${error.pointer.slice(1).replaceAll("/", " ").replaceAll("_", " ")}: ${error.message}`;

const FORM_STAGE = 2;
const LINK_DELAY = 300;
const ANNOUNCE_DELAY = 500;
const MORE_DELAY = 80;
const MORE_PARTS = ["timeline", "machines"];

@customElement("plimsoll-app")
export class PlimsollApp extends LitElement implements Actions {
  @state() private view: View | undefined;
  @state() private announcement = "";
  @state() private verdictInSight = true;

  /** How much of the page is drawn so far. */
  private parts = 0;
  private readonly shelf: Partial<Record<"peft" | "quantization", Json>> = {};
  private linkTimer = 0;
  /** The address was written before the answer was there, and is written again then. */
  private linkLacksTotal = false;
  private announceTimer = 0;
  private moreTimer = 0;
  /** What the link says of the answer that is being waited for. */
  private made: Made | undefined;
  /** Settles with the last answer that has been asked for. */
  private answering: Promise<void> = Promise.resolve();
  /** Counts the requests asked, so that a later one is not answered by an earlier one that had to wait. */
  private asked = 0;

  /** No shadow root: labels, descriptions, print and the page's style sheet work across all parts. */
  protected override createRenderRoot(): this {
    return this;
  }

  /** Resolves when the first answer is drawn. */
  async start(core: Core): Promise<void> {
    this.view = firstView(core, asTheme(remembered()));
    this.readLink();
    window.addEventListener("popstate", () => this.readLink());
    window.matchMedia(PHONE).addEventListener("change", () => {
      showForm(false);
      if (this.view) this.view = { ...this.view };
    });
    window.matchMedia("(min-width: 860px)").addEventListener("change", () => showForm(false));
    await this.drawFirst();
    this.askMoreSoon();
    void this.fetchRest();
  }

  /** The first answer is drawn before anything else is fetched. */
  private async fetchRest(): Promise<void> {
    await this.updateComplete;
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    try {
      const [{ rest }] = await Promise.all([import("./rest.ts"), import("./paste/box.ts")]);
      this.below = new rest.Below(this, this);
      if (this.view) this.view = { ...this.view, rest };
      rest.frame();
      await this.view?.core.complete();
      if (this.view) this.view = { ...this.view };
      await keepOffline({
        fetched: () => {
          if (this.view) this.view = { ...this.view, offline: true };
        },
        waiting: (use) => {
          if (this.view) this.view = { ...this.view, update: use };
        },
      });
    } catch (error) {
      this.loadingFailed(error);
    }
  }

  // Actions

  edit(edits: Edit[], how: How, typed?: [pointer: string, text: string]): void {
    if (!this.view) return;
    const { request, core } = this.view;
    const example = isExample(this.view);
    for (const section of example ? [] : (["peft", "quantization"] as const)) {
      const old = get(request, `/${section}`);
      if (isObject(old) && edits.some(({ pointer }) => pointer === `/${section}`)) this.shelf[section] = old;
    }
    const own = example ? { origin: undefined, instant: undefined, kept: undefined } : {};
    const begun = begins(request, example) ? NEUTRAL.map(({ pointer }) => pointer) : [];
    const before = [...(example ? [] : this.view.assumed), ...begun];
    const said = example ? {} : request;
    const beside = [
      ...besideMethod(edits, said, this.view.assumed),
      ...besideTask(edits, said, before.includes(BATCH)),
    ];
    const next = changed(request, example, [...edits, ...beside], core.gpus);
    const assumed = before.filter(
      (pointer) => ![...edits, ...beside].some((edit) => edit.pointer === pointer),
    );
    for (const { pointer, value } of beside) if (value !== undefined) assumed.push(pointer);
    const chosen = how === "step" ? edits.map(({ pointer }) => pointer) : [];
    this.ask(next, {
      ...own,
      assumed,
      chosen,
      typed: typed ? new Map([...this.view.typed, typed]) : this.view.typed,
    });
    // Back leads to the example again.
    this.writeLink(example ? "step" : how);
  }

  answer(edits: Edit[]): void {
    this.edit(edits, "step");
    void this.showCard(".ask button");
  }

  editText(text: string): void {
    if (!this.view) return;
    let parsed: Json | undefined;
    try {
      parsed = JSON.parse(text) as Json;
    } catch {
      parsed = undefined;
    }
    // The text itself goes to the core, so that it can say where the syntax breaks and see duplicate keys.
    this.ask(isObject(parsed) ? parsed : this.view.request, { draft: text, typed: new Map() }, text);
    if (isObject(parsed)) this.writeLink("tweak");
  }

  adopt(): void {
    if (this.view) this.view = { ...this.view, origin: undefined };
    this.goTo("/model");
  }

  open(scenario: Scenario): void {
    this.ask(scenario.request, {
      origin: scenario,
      notice: undefined,
      instant: undefined,
      typed: new Map(),
    });
    this.writeLink("step");
  }

  replace({ request, chosen, capacity, taken }: Used): void {
    const origin = this.scenarioOf(request);
    const fresh = { notice: undefined, instant: undefined, typed: new Map<string, string>() };
    // Of the cards that have what the message says, any has the same room for the run.
    const open = capacity !== undefined && get(request, "/hardware/gpu") === undefined;
    const gpu = open ? this.view?.rest?.card.likeliest(this.view, capacity) : undefined;
    const said = gpu ? put(request, "/hardware/gpu", gpu) : request;
    const edits = taken ? saidEdits(said) : [];
    const beside = besideTask(edits, said, taken?.includes(BATCH) ?? false);
    const whole = taken ? changed({}, true, [...edits, ...beside], this.view?.core.gpus ?? []) : said;
    this.ask(whole, { ...fresh, origin, chosen, capacity });
    const added = beside.map(({ pointer }) => pointer);
    const assumed = [...(gpu ? ["/hardware/gpu"] : []), ...(taken ?? []), ...added];
    if (this.view && assumed.length > 0) this.view = { ...this.view, assumed };
    this.writeLink("step");
  }

  chooseInstant(id: string | undefined): void {
    if (this.view) this.view = { ...this.view, instant: id };
  }

  chooseFigure(id: FigureId | undefined): void {
    if (this.view) this.view = { ...this.view, figure: id };
  }

  chooseComponent(id: string | undefined): void {
    if (this.view) this.view = { ...this.view, component: id };
  }

  chooseRow(id: string | undefined): void {
    if (this.view) this.view = { ...this.view, row: id };
  }

  showEveryTier(every: boolean): void {
    if (this.view) this.view = { ...this.view, everyTier: every };
  }

  showEveryMachine(every: boolean): void {
    if (this.view) this.view = { ...this.view, everyMachine: every };
  }

  chooseMoment(index: number): void {
    if (this.view) this.view = { ...this.view, moment: index };
  }

  showWholeTimeline(whole: boolean): void {
    if (this.view) this.view = { ...this.view, wholeTimeline: whole };
  }

  choosePlanTier(gib: number | undefined): void {
    if (this.view) this.view = { ...this.view, planTier: gib };
  }

  chooseTab(tab: string): void {
    if (!this.view) return;
    this.view = { ...this.view, tab };
    window.clearTimeout(this.linkTimer);
    if (this.linkTimer !== 0) this.replaceLink();
    // The entry of the history stays that of the request: Back undoes steps, not looks.
    const { pathname, search, hash } = window.location;
    window.history.replaceState(null, "", withTab(hash, tab) || pathname + search);
  }

  /** `stay`: what was done is seen where it was done. */
  apply(edits: Edit[], what = say("plan.applied"), stay = false): void {
    if (!this.view) return;
    const { request } = this.view;
    const next = edits.reduce((under, { pointer, value }) => put(under, pointer, value), request);
    this.ask(next, { typed: new Map(), undo: request, done: what });
    this.writeLink("step");
    if (!stay) void this.showCard(".undo button");
  }

  /** What has become of it, in view wherever the button was, and `sought` in it with the focus. */
  private async showCard(sought: string): Promise<void> {
    await this.answering;
    await this.updateComplete;
    const card = this.querySelector(".verdict");
    const { top = 0, bottom = 0 } = card?.getBoundingClientRect() ?? {};
    if (top < 0 || bottom > window.innerHeight) card?.scrollIntoView({ block: "start" });
    const target = card?.querySelector<HTMLElement>(sought) ?? card?.querySelector("h2");
    target?.focus({ preventScroll: true });
  }

  undo(): void {
    const before = this.view?.undo;
    if (!before) return;
    this.ask(before, { typed: new Map(), undo: undefined, origin: this.scenarioOf(before) });
    this.writeLink("step");
  }

  keep(): void {
    if (this.view) this.view = { ...this.view, kept: this.view.request };
    this.askMoreSoon();
  }

  swap(): void {
    const { view } = this;
    if (!view?.kept) return;
    this.ask(view.kept, { kept: view.request, typed: new Map() });
    this.writeLink("step");
  }

  dropKept(): void {
    if (this.view) this.view = { ...this.view, kept: undefined, comparison: undefined };
  }

  openForm(): void {
    showForm(true);
  }

  goTo(pointer: string): void {
    showForm(true, pointer);
    const target = document.getElementById(elementFor(pointer));
    const fold = target?.closest("details");
    if (fold) fold.open = true;
    target?.focus();
  }

  tell(message: string, text?: string): void {
    if (!this.view) return;
    this.view = { ...this.view, told: text === undefined ? { message } : { message, text } };
    this.announcement = message;
  }

  now(): View | undefined {
    return this.view;
  }

  wearTheme(theme: Theme): void {
    wear(theme);
    remember(theme);
    if (this.view) this.view = { ...this.view, theme };
  }

  measureIn(unit: Unit): void {
    measureIn(unit);
    remember(unit, UNIT_KEY);
    if (this.view) this.view = { ...this.view };
  }

  speakLanguage(id: string): void {
    void speak(id).then((spoken) => {
      if (!spoken || !this.view) return;
      remember(id, LANGUAGE_KEY);
      this.view.rest?.frame();
      this.view = { ...this.view };
    });
  }

  postponeUpdate(): void {
    if (this.view) this.view = { ...this.view, update: undefined };
  }

  shelved(section: "peft" | "quantization"): Json | undefined {
    return this.shelf[section];
  }

  // Request to answer

  private ask(request: Request, changes: Partial<View>, text = JSON.stringify(request)): void {
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
        if (this.linkLacksTotal) this.replaceLink();
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
        report: asFarAsSaid(view.request, answer),
        answered: view.request,
        errors: [],
        instant: known ? view.instant : undefined,
        moment: undefined,
      };
      this.compareWithLink();
      this.askMoreSoon();
    } else {
      this.refused(view, answer);
    }
    this.announceSoon();
  }

  private refused(view: View, { errors }: Refusal): void {
    // What was wrong before is not mended by a choice of something else.
    const fresh = errors.filter(({ pointer }) => !view.errors.some((old) => old.pointer === pointer));
    const way = givenWay(view.request, view.chosen, fresh, (request) => accepts(view.core, request));
    if (way) {
      const dropped = way.dropped.map(dotted).join(", ");
      const done = say("shown.dropped", { dropped });
      this.ask(way.request, { chosen: view.chosen, undo: view.undo ?? view.request, done });
      this.writeLink("tweak");
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

  private loadingFailed(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    if (this.view) this.view = { ...this.view, notice: say("load.failed", { why }) };
  }

  /** The slower parts follow once the answer is painted and no key has been pressed for a moment. */
  private askMoreSoon(): void {
    // A slow phone takes longer than the delay to draw the first answer, and fetches nothing else before.
    if (this.parts < STAGES) return;
    window.clearTimeout(this.moreTimer);
    this.moreTimer = window.setTimeout(() => void this.askMore(), MORE_DELAY);
  }

  private async askMore(): Promise<void> {
    const { view, asked } = this;
    if (!view?.report || view.waiting) return;
    const { request, kept } = view;
    try {
      const core = await loadMore();
      const [more, advice, comparison] = await Promise.all([
        core.report(request, MORE_PARTS),
        core.advise({ ...request, want: ["rent"] }),
        kept ? core.compare(kept, request) : undefined,
      ]);
      if (asked !== this.asked || !this.view) return;
      this.view = {
        ...this.view,
        more: more.ok ? more : undefined,
        // No plan is for a card before the run is known.
        advice: this.view.report?.gpu ? advice : { ...advice, gpu: null },
        comparison: this.view.kept ? comparison : undefined,
      };
    } catch (error) {
      if (!isSuperseded(error)) this.loadingFailed(error);
    }
  }

  private announceSoon(): void {
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

  // Request and address

  private scenarioOf(request: Request): Scenario | undefined {
    return this.view?.core.scenarios.find((scenario) => sameRequest(scenario.request, request));
  }

  private readLink(): void {
    window.clearTimeout(this.linkTimer);
    this.linkTimer = 0;
    if (!this.view) return;
    const decoded = decode(window.location.hash);
    this.view = { ...this.view, tab: tabOf(window.location.hash) };
    const { scenarios: known } = this.view.core;
    const first = known.find(({ id }) => id === FIRST_SCENARIO) ?? known[0];
    const fresh = { typed: new Map<string, string>(), instant: undefined, notice: undefined };
    if (decoded.kind === "request") {
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

  /** A link keeps the total that its maker saw; a newer core may say otherwise, and then it says both. */
  private compareWithLink(): void {
    const { view, made } = this;
    this.made = undefined;
    const now = view ? madeOf(view) : undefined;
    if (!view || !made || !now || made.total === now.total) return;
    const was = `${made.total}\u00a0GiB`;
    this.view = {
      ...view,
      notice: say("link.was", { version: made.version, was, now: `${now.total}\u00a0GiB` }),
    };
  }

  private address(): string {
    this.linkLacksTotal = this.view?.waiting === true;
    return this.view ? withTab(encode(this.view.request, madeOf(this.view)), this.view.tab) : "";
  }

  private writeLink(how: How): void {
    if (how === "tweak") {
      window.clearTimeout(this.linkTimer);
      this.linkTimer = window.setTimeout(() => this.replaceLink(), LINK_DELAY);
      return;
    }
    const address = this.address();
    if (address === window.location.hash) return;
    window.clearTimeout(this.linkTimer);
    this.linkTimer = 0;
    window.history.pushState(null, "", address);
  }

  private replaceLink(): void {
    this.linkTimer = 0;
    if (this.view) window.history.replaceState(null, "", this.address());
  }

  // Drawing

  private readonly sight = new IntersectionObserver((entries) => {
    const at = entries.at(-1);
    // On a wide page the verdict returns at the upper edge, and only once it has left there.
    // Where there is no verdict, nothing need return.
    const away = (at?.boundingClientRect.top ?? 0) > 0 || at?.target.isConnected === false;
    const below = away && window.matchMedia("(min-width: 860px)").matches;
    this.verdictInSight = below || (at?.isIntersecting ?? true);
  });

  private below: InstanceType<Rest["Below"]> | undefined;

  /** Draws one part after another, with room between them; the page shows itself when all are there. */
  private async drawFirst(): Promise<void> {
    while (this.parts < STAGES) {
      await pause();
      // The form stands before the answer is there; what must be fetched first is not waited for.
      if (this.parts === FORM_STAGE && this.view?.core.soon(this.view.request)) await this.answering;
      this.parts += 1;
      this.requestUpdate();
      await this.updateComplete;
    }
  }

  protected override updated(): void {
    if (this.parts < STAGES) return;
    void this.below?.draw();
    const heading = this.querySelector("#verdict-headline");
    if (heading) this.sight.observe(heading);
  }

  protected override render(): TemplateResult | typeof nothing {
    const { view } = this;
    if (!view || this.parts === 0) return nothing;
    return page(view, this, {
      announcement: this.announcement,
      verdictInSight: this.verdictInSight,
      drawn: this.parts,
    });
  }
}
