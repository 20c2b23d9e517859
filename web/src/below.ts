// Draws what is below the verdict: the tabs, and the parts in each, one in every frame, so that none keeps a key press waiting for
// all. The part that is being used comes first, then those of the open tab.
import { render } from "lit";
import type { Placed, Rest } from "./rest.ts";
import { asTab, tabList, type Tab } from "./tabs.ts";
import type { Actions, View } from "./view.ts";
import { language } from "./words/say.ts";

/** After the next picture has been painted. */
const nextFrame = () =>
  new Promise<void>((done) => requestAnimationFrame(() => window.setTimeout(() => done())));

const isSame = (one: unknown, other: unknown[]): boolean =>
  Array.isArray(one) && other.every((each, index) => each === one[index]);

interface Place extends Placed {
  host: HTMLElement;
  /** What it was last drawn from. */
  from: unknown[];
}

function element(className: string, attributes: Record<string, string> = {}): HTMLElement {
  const made = Object.assign(document.createElement("div"), { className });
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

export class Below {
  private host: Element | null = null;
  private head = element("tab-list");
  private places: Place[] = [];
  private drawing = false;
  private shown: Tab | undefined;

  constructor(
    private readonly page: Element,
    private readonly actions: Actions,
  ) {}

  async draw(): Promise<void> {
    if (this.drawing) return;
    this.drawing = true;
    do await nextFrame();
    while (this.drawNext());
    this.drawing = false;
  }

  private begin(host: Element, { parts }: Rest): void {
    this.host = host;
    this.shown = undefined;
    this.head = element("tab-list");
    const panels = new Map<string, HTMLElement>();
    this.places = parts.map(({ tab, part }) => {
      const attributes = { role: "tabpanel", id: `panel-${tab}`, "aria-labelledby": `tab-${tab}` };
      const panel = panels.get(tab) ?? element("tab-panel answer", attributes);
      panels.set(tab, panel);
      const place = element("part");
      panel.append(place);
      return { tab, host: place, part, from: [] };
    });
    host.replaceChildren(this.head, ...panels.values());
  }

  /** Shows the open tab at once; what is in it follows. */
  private open(view: View): Tab {
    const tab = asTab(view.tab);
    render(tabList(tab, this.actions), this.head);
    if (tab !== this.shown) this.centre(tab);
    for (const panel of this.host?.querySelectorAll(":scope > [role=tabpanel]") ?? []) {
      panel.toggleAttribute("data-closed", panel.id !== `panel-${tab}`);
    }
    return tab;
  }

  /** On a phone the tabs are wider than the page: a link may open one that stands beyond its edge. */
  private centre(tab: Tab): void {
    this.shown = tab;
    const list = this.head.firstElementChild;
    const chosen = list?.querySelector(`#tab-${tab}`)?.getBoundingClientRect();
    if (!list || !chosen) return;
    const { left, width } = list.getBoundingClientRect();
    list.scrollLeft += chosen.left - left - (width - chosen.width) / 2;
  }

  /** Whether there is more to draw. */
  private drawNext(): boolean {
    const view = this.actions.now();
    const host = this.page.querySelector(".rest");
    if (!view?.report || !view.rest || !host) return false;
    if (this.host !== host) this.begin(host, view.rest);
    const open = this.open(view);
    const now = [view, language()];
    const late = this.places.filter(({ from }) => !isSame(from, now));
    const used = late.find((place) => place.host.contains(document.activeElement));
    const next = used ?? late.find(({ tab }) => tab === open) ?? late[0];
    if (!next) return false;
    next.from = now;
    render(next.part(view, view.report, this.actions), next.host);
    return late.length > 1;
  }
}
