// The page's one element: does what its parts ask for, and draws them. What it does with a request is in asking.ts.
import { nothing, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import { Asking } from "./asking.ts";
import type { Core } from "./core.ts";
import type { Json, Scenario } from "./contract.ts";
import { elementFor } from "./form.ts";
import { measureIn, UNIT_KEY, type Unit } from "./format.ts";
import { keepOffline } from "./offline.ts";
import type { Edit, Step } from "./own.ts";
import type { Difference } from "./opening.ts";
import { page, STAGES } from "./page.ts";
import type { Used } from "./paste/used.ts";
import { get, isObject, put } from "./pointer.ts";
import { pause } from "./presets.ts";
import type { Rest } from "./rest.ts";
import { isExample } from "./scenarios.ts";
import { showForm } from "./sheet.ts";
import { edited, taken } from "./steps.ts";
import { asTheme, remember, remembered, wear, type Theme } from "./theme.ts";
import { firstView, PHONE, type Actions, type How, type Look, type View } from "./view.ts";
import { LANGUAGE_KEY, speak } from "./words/say.ts";

const FORM_STAGE = 2;

function soon<Value>(value: Value | Promise<Value>, then: (value: Value) => void): Promise<void> | undefined {
  if (value instanceof Promise) return value.then(then);
  then(value);
  return undefined;
}

@customElement("plimsoll-app")
export class PlimsollApp extends Asking implements Actions {
  @state() private verdictInSight = true;

  /** How much of the page is drawn so far. */
  private parts = 0;
  private readonly shelf: Partial<Record<"peft" | "quantization", Json>> = {};

  /** No shadow root: labels, descriptions, print and the page's style sheet work across all parts. */
  protected override createRenderRoot(): this {
    return this;
  }

  /** Resolves when the first answer is drawn. */
  async start(core: Core, beyond: Difference): Promise<void> {
    this.beyond = beyond;
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

  edit(edits: Edit[], how: How, typed?: [pointer: string, text: string], open: string[] = []): void {
    this.inTurn(() => {
      const { view } = this;
      return view && soon(edited(view, edits, open), (step) => this.step(view, step, edits, how, typed));
    });
  }

  private step(
    view: View,
    { request, assumed }: Step,
    edits: Edit[],
    how: How,
    typed: [pointer: string, text: string] | undefined,
  ): void {
    const example = isExample(view);
    for (const section of example ? [] : (["peft", "quantization"] as const)) {
      const old = get(view.request, `/${section}`);
      if (isObject(old) && edits.some(({ pointer }) => pointer === `/${section}`)) this.shelf[section] = old;
    }
    this.ask(request, {
      ...(example ? { origin: undefined, instant: undefined, kept: undefined } : {}),
      assumed,
      chosen: how === "step" ? edits.map(({ pointer }) => pointer) : [],
      typed: typed ? new Map([...view.typed, typed]) : view.typed,
    });
    // Back leads to the example again.
    this.address.write(example ? "step" : how);
  }

  answer(edits: Edit[], open?: string[]): void {
    this.edit(edits, "step", undefined, open);
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
    if (isObject(parsed)) this.address.write("tweak");
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
    this.address.write("step");
  }

  replace(used: Used): void {
    this.inTurn(() => {
      const { view } = this;
      return view && soon(taken(view, used), (step) => this.become(view, step, used));
    });
  }

  private become(view: View, { request, assumed }: Step, used: Used): void {
    const how = used.follows && !isExample(view) ? "tweak" : "step";
    this.ask(request, {
      notice: undefined,
      instant: undefined,
      typed: new Map(),
      origin: this.scenarioOf(used.request),
      chosen: used.chosen,
      capacity: used.capacity,
      ranks: used.ranks ?? 0,
      like: used.like,
      died: used.died ? request : undefined,
      pasted: view.pasted + Number(how === "step"),
      ...(assumed.length > 0 ? { assumed } : {}),
    });
    this.address.write(how);
    void this.takeFocus();
  }

  /** The box that was pasted into may have become a line: whoever was in it goes on at the first question. */
  private async takeFocus(): Promise<void> {
    await this.answering;
    await this.updateComplete;
    await new Promise(requestAnimationFrame);
    if (document.activeElement === document.body) this.focusIn(this.querySelector(".verdict"), ".ask button");
  }

  private focusIn(card: Element | null, sought: string): void {
    const target = card?.querySelector<HTMLElement>(sought) ?? card?.querySelector("h2");
    target?.focus({ preventScroll: true });
  }

  look(changes: Look): void {
    if (!this.view) return;
    this.view = { ...this.view, ...changes };
    if ("kept" in changes) this.address.keep();
    if (changes.planTier !== undefined && this.view.advice?.tiers.length === 0) this.askMoreSoon();
  }

  chooseTab(tab: string): void {
    if (!this.view) return;
    this.view = { ...this.view, tab };
    this.address.showTab(tab);
  }

  /** `stay`: what was done is seen where it was done. */
  apply(edits: Edit[], what: string, stay = false): void {
    if (!this.view) return;
    const { request } = this.view;
    const next = edits.reduce((under, { pointer, value }) => put(under, pointer, value), request);
    this.ask(next, { typed: new Map(), undo: request, done: what, died: undefined });
    this.address.write("step");
    if (!stay) void this.showCard(".undo button");
  }

  /** What has become of it, in view wherever the button was, and `sought` in it with the focus. */
  private async showCard(sought: string): Promise<void> {
    await this.changing;
    await this.answering;
    await this.updateComplete;
    const card = this.querySelector(".verdict");
    const { top = 0, bottom = 0 } = card?.getBoundingClientRect() ?? {};
    if (top < 0 || bottom > window.innerHeight) card?.scrollIntoView({ block: "start" });
    this.focusIn(card, sought);
  }

  undo(): void {
    const before = this.view?.undo;
    if (!before) return;
    this.ask(before, { typed: new Map(), undo: undefined, origin: this.scenarioOf(before) });
    this.address.write("step");
    void this.showCard("h2");
  }

  keep(): void {
    if (this.view) this.view = { ...this.view, kept: this.view.request };
    this.address.keep();
    this.askMoreSoon();
  }

  swap(): void {
    const { view } = this;
    if (!view?.kept) return;
    this.ask(view.kept, { kept: view.request, typed: new Map() });
    this.address.write("step");
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
      this.announceSoon();
    });
  }

  shelved(section: "peft" | "quantization"): Json | undefined {
    return this.shelf[section];
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

  protected override drawn(): boolean {
    return this.parts === STAGES;
  }

  protected override updated(): void {
    if (!this.drawn()) return;
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
