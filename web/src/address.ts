// The address of the page, which holds the request, the tab that is open, and the total that its maker saw.
import { encode, withTab } from "./link.ts";
import { madeOf } from "./made.ts";
import type { How, View } from "./view.ts";

const DELAY = 300;

export class Address {
  private timer = 0;
  /** It was written before the answer was there, and is written again then. */
  private lacksTotal = false;

  constructor(private readonly view: () => View | undefined) {}

  private made(): string {
    const view = this.view();
    this.lacksTotal = view !== undefined && madeOf(view) === undefined;
    return view ? withTab(encode(view.request, madeOf(view)), view.tab) : "";
  }

  /** Forgets what was still to be written. */
  stop(): void {
    window.clearTimeout(this.timer);
    this.timer = 0;
  }

  write(how: How): void {
    if (how === "tweak") {
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.replace(), DELAY);
      return;
    }
    const address = this.made();
    if (address === window.location.hash) return;
    this.stop();
    window.history.pushState(null, "", address);
  }

  private replace(): void {
    this.timer = 0;
    if (this.view()) window.history.replaceState(null, "", this.made());
  }

  answered(): void {
    if (this.lacksTotal) this.replace();
  }

  /** The entry of the history stays that of the request: Back undoes steps, not looks. */
  showTab(tab: string): void {
    window.clearTimeout(this.timer);
    if (this.timer !== 0) this.replace();
    const { pathname, search, hash } = window.location;
    window.history.replaceState(null, "", withTab(hash, tab) || pathname + search);
  }
}
