// What a text becomes: the request of the page, with one step back, and the same changes written into the files that it came from.
import { property, state } from "lit/decorators.js";
import type { Plan, Request } from "../contract.ts";
import { COUNT, LEFT_OPEN } from "../own.ts";
import { get, put } from "../pointer.ts";
import { proven } from "./asked.ts";
import { isShown } from "./became.ts";
import { begun, combined, isPart, pointers } from "./combined.ts";
import { Held } from "./held.ts";
import { writtenBack } from "./patched.ts";
import { DIED, isAnswered, machineOf } from "./together.ts";
import type { Used } from "./used.ts";

export abstract class Applied extends Held {
  @property({ attribute: false }) request: Request = {};
  /** Whether that is nobody's own: nothing of it may answer for the person. */
  @property({ attribute: false }) example = false;
  /** What nobody has said of the request, by pointer: a file has its trainer's defaults. */
  @property({ attribute: false }) assumed: string[] = [];
  @state() protected told = "";
  /** The request that follows what is typed, as the page has it. */
  protected followed: Request | undefined;
  protected follows = false;
  protected becomes = false;

  protected isOfText(): boolean {
    return isShown(this.became, this.request, this.past, this.imported, this.diagnosed);
  }

  /** Whether the text became a request and the page shows another one now. */
  protected isLeft(): boolean {
    return this.became !== undefined && !this.isOfText();
  }

  /** Whether the run of the text is the page's, and how many cards share it is now said: before that no plan is for it. */
  protected isCounted(): boolean {
    const before = this.origin?.request;
    const cards = get(this.request, COUNT);
    if (!before || get(before, COUNT) !== undefined || cards === undefined || cards === this.cards)
      return false;
    this.cards = cards;
    return isAnswered(before, this.request);
  }

  /** What has changed on the page since, in the words of the pasted files. */
  protected async writeBack(): Promise<void> {
    const { origin, request } = this;
    if (!origin) return;
    if (!origin.request) {
      origin.request = request;
      return;
    }
    const patches = await writtenBack(origin.texts, origin.request, request);
    if (!patches || request !== this.request || origin !== this.origin) return;
    this.told = "";
    this.patches = patches;
  }

  /** Versions above an error are no file: what the text says of the run is read with its error. */
  protected isBanner(): boolean {
    return this.imported?.format?.id === "versions" && DIED.test(this.text);
  }

  /** Whether the page shows nobody's own run: an example, or what the text in the box says. */
  protected free(): boolean {
    return this.example || this.request === this.followed;
  }

  /** What the person has said so far, beside the text. */
  protected own(): Request | undefined {
    return this.free() || this.request["model"] === undefined ? undefined : this.request;
  }

  /** The texts that were read, the one that leads first. */
  protected files(): string[] {
    const { part = this.text, parts = [] } = this.imported ?? {};
    return [part, ...parts.filter((other) => other !== part)];
  }

  protected use(request: Request, follows = false): void {
    this.origin = { texts: this.files(), request: undefined };
    const given = isPart(this.imported) ? [] : this.assumed;
    const own = given.reduce((under, pointer) => put(under, pointer, undefined), this.request);
    const model = this.imported?.format?.id === "config";
    const whole = model ? request : combined(this.free() ? {} : own, request, this.imported);
    const failed = this.explained === this.text ? this.diagnosed : undefined;
    const { open, ...first } = begun(proven(failed, whole));
    const left = (this.imported?.missing ?? []).map(({ pointer }) => pointer);
    this.leave({
      ...first,
      open: [...open, ...left.filter((pointer) => LEFT_OPEN.includes(pointer))],
      chosen: pointers(request),
      ...machineOf(this.diagnosed),
      model,
      follows,
    });
  }

  /** The request that a question in words says. */
  protected takeSaid(request: Request, taken: string[] | undefined, follows = false): void {
    this.origin = undefined;
    const machine = taken ? machineOf(this.diagnosed) : {};
    this.leave({ request, chosen: pointers(request), ...machine, ...(taken ? { taken } : {}), follows });
  }

  /** The text becomes the request; one that is still being typed keeps its box. */
  protected leave(used: Used): void {
    this.patches = [];
    this.becomes = true;
    this.replaced = used.follows ? undefined : this.request;
    this.hand(used);
  }

  protected hand(detail: Used): void {
    this.follows = detail.follows === true;
    this.handing = true;
    this.dispatchEvent(new CustomEvent("use", { detail }));
  }

  protected undo(): void {
    const { replaced } = this;
    if (!replaced) return;
    this.origin = undefined;
    this.patches = [];
    this.became = undefined;
    this.replaced = undefined;
    this.texts = this.earlier;
    this.hand({ request: replaced, chosen: [] });
  }

  /** Whatever was changed on the page since is gone. */
  protected back(): void {
    const { became } = this;
    if (!became) return;
    this.past = false;
    this.leave({
      request: became.request,
      chosen: [],
      open: became.assumed,
      ...machineOf(this.diagnosed),
    });
  }

  /** The changes of a plan, also in the words of the file where one was pasted. */
  protected applyPlan(before: Request, plan: Plan): void {
    const whole = this.imported?.ok === true && !this.imported.partial;
    this.origin = whole ? { texts: this.files(), request: before } : undefined;
    this.patches = [];
    const after = plan.changes.reduce((request, { pointer, to }) => put(request, pointer, to), before);
    this.replaced = this.request;
    this.past = true;
    this.hand({ request: after, chosen: [] });
  }
}
