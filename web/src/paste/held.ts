// What the box shows and what that came from, held for each entry of the history: Back shows it again, beside the request that
// it belongs to.
import { LitElement } from "lit";
import { property, state } from "lit/decorators.js";
import type { Json, Request } from "../contract.ts";
import type { Became } from "./became.ts";
import type { Diagnosis, Imported, Patched } from "./found.ts";

const SHOWN = [
  ...["text", "texts", "earlier", "cards", "led", "imported", "diagnosed", "explained", "answers"],
  ...["problem", "patches", "replaced", "origin", "became", "past", "leftOut"],
];

export abstract class Held extends LitElement {
  /** How many texts had become the request at this entry of the history. */
  @property({ attribute: false }) place = 0;
  @state() protected text = "";
  /** What it was put together from, and what was there before the last of it. */
  protected texts: string[] = [];
  protected earlier: string[] = [];
  protected cards: Json | undefined;
  /** The card has taken up a question, and asks what it leaves open. */
  protected led = false;
  @state() protected imported: Imported | undefined;
  @state() protected diagnosed: Diagnosis | undefined;
  /** The text that `diagnosed` is of: before, nobody knows that there is no run in it. */
  @state() protected explained = "";
  /** To the questions of the diagnosis, "when=save"; of this text alone. */
  protected answers: string[] = [];
  @state() protected problem = "";
  @state() protected patches: Patched[] = [];
  /** The request before the text was applied: then the box is a chip. */
  @state() protected replaced: Request | undefined;
  /** The texts that the request came from, the one that names its model first, and the request as it was then. */
  protected origin: { texts: string[]; request: Request | undefined } | undefined;
  @state() protected became: Became | undefined;
  /** What is said of the failure is said of an earlier request. */
  @state() protected past = false;
  /** Names of files that came with the others and are not of their run. */
  @state() protected leftOut: string[] = [];

  /** The page takes up what it was handed: its next place is that of the text that is here. */
  protected handing = false;
  /** The place of what is shown. */
  private shownAt = 0;
  private readonly held = new Map<number, object>();
  private readonly empty = this.shown();

  /** Something else is shown than what was pasted or typed last. */
  protected abstract shownAnew(): void;

  private shown(): object {
    return Object.fromEntries(SHOWN.map((name) => [name, this[name as keyof this]]));
  }

  /** Another text is about to take the place of what is shown. */
  protected hold(): void {
    this.held.set(this.shownAt, this.shown());
  }

  protected override willUpdate(changed: Map<string, unknown>): void {
    if (!changed.has("request") && !changed.has("place")) return;
    if (this.place !== this.shownAt && !this.handing) {
      this.hold();
      // After the page was loaded anew the request alone is there.
      Object.assign(this, this.held.get(this.place) ?? this.empty);
      this.shownAnew();
    }
    this.shownAt = this.place;
    this.handing = false;
  }
}
