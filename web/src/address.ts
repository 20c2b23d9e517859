// The address of the page, which holds the request, the tab that is open, and the total that its maker saw; and what the entry of
// the history says beside it, which no link does: what nobody has said yet, and what is kept for a comparison.
import { decode, encode, FIRST_TAB, keptIn, sameRequest, tabOf, withTab } from "./link.ts";
import { madeOf } from "./made.ts";
import type { How, View } from "./view.ts";

const DELAY = 300;

const BESIDE = ["assumed", "capacity", "ranks", "like", "died", "pasted", "kept"] as const;
type Beside = Pick<View, (typeof BESIDE)[number]>;

interface Entry {
  beside: Beside;
  /** Made by a tab: the next one takes its place, so that one step back leads to the request as it was first shown. */
  tab: boolean;
}

const NOTHING: Beside = {
  assumed: [],
  capacity: undefined,
  ranks: 0,
  like: undefined,
  died: undefined,
  pasted: 0,
  kept: undefined,
};

const entry = () => window.history.state as Entry | null;

/** Of a link that somebody opened, nothing but what it is compared with. */
export const besideRequest = (): Beside => ({
  ...NOTHING,
  kept: keptIn(window.location.hash),
  ...entry()?.beside,
});

const besideOf = (view: View): Beside =>
  Object.fromEntries(BESIDE.map((name) => [name, view[name]])) as unknown as Beside;

export class Address {
  private timer = 0;
  /** It was written before the answer was there, and is written again then. */
  private lacksTotal = false;

  constructor(private readonly view: () => View | undefined) {}

  private made(): string {
    const view = this.view();
    this.lacksTotal = view !== undefined && madeOf(view) === undefined;
    return view ? withTab(encode(view.request, madeOf(view)), view.tab, view.kept) : "";
  }

  private state(tab: boolean): Entry | null {
    const view = this.view();
    return view ? { beside: besideOf(view), tab } : null;
  }

  /** Forgets what was still to be written. */
  stop(): void {
    window.clearTimeout(this.timer);
    this.timer = 0;
  }

  write(how: How): void {
    if (how === "tweak") {
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.replace(false), DELAY);
      return;
    }
    this.stop();
    if (this.isThere()) this.keep();
    else window.history.pushState(this.state(false), "", this.made());
  }

  /** The total, which follows with the answer, makes no other entry: Back would seem to do nothing. */
  private isThere(): boolean {
    const view = this.view();
    const { hash } = window.location;
    const there = decode(hash);
    if (!view || there.kind !== "request") return false;
    return sameRequest(there.request, view.request) && tabOf(hash) === view.tab;
  }

  private replace(tab = entry()?.tab ?? false): void {
    this.timer = 0;
    if (this.view()) window.history.replaceState(this.state(tab), "", this.made());
  }

  answered(): void {
    if (this.lacksTotal) this.replace();
  }

  /** What is said beside the request has changed, and the request has not. */
  keep(): void {
    const { tab, kept } = this.view() ?? {};
    const address = withTab(window.location.hash, tab ?? FIRST_TAB, kept);
    window.history.replaceState(this.state(entry()?.tab ?? false), "", address);
  }

  /** Back leads from the tabs to the request as it was first shown, however many were looked at, and not off the page. */
  showTab(tab: string): void {
    window.clearTimeout(this.timer);
    if (this.timer !== 0) this.replace();
    const { pathname, search, hash } = window.location;
    const opened = withTab(hash, tab, this.view()?.kept);
    const address = opened || pathname + search;
    if (entry()?.tab) window.history.replaceState(this.state(true), "", address);
    else if (opened !== hash) window.history.pushState(this.state(true), "", address);
  }
}
