// The parts of the answer as tabs (ARIA: arrow keys, Home and End move and choose). Each has an address: "&tab=limits" behind the
// request. All are drawn, one after another, the open one first: print shows the rest too.
import { html, nothing, type TemplateResult } from "lit";
import type { Actions } from "./view.ts";
import { say, type Word } from "./words/say.ts";

export const TABS = [
  ["fixes", "tab.fixes"],
  ["timeline", "tab.timeline"],
  ["gpus", "tab.gpus"],
  ["limits", "tab.limits"],
  ["cost", "tab.cost"],
  ["breakdown", "tab.breakdown"],
  ["compare", "tab.compare"],
  ["share", "tab.share"],
] as const satisfies [string, Word][];

export type Tab = (typeof TABS)[number][0];

/** An address that names no tab, or none that there is, opens the first. */
export const asTab = (name: string): Tab => TABS.find(([id]) => id === name)?.[0] ?? TABS[0][0];

const STEPS: Record<string, (at: number) => number> = {
  ArrowRight: (at) => (at + 1) % TABS.length,
  ArrowLeft: (at) => (at + TABS.length - 1) % TABS.length,
  Home: () => 0,
  End: () => TABS.length - 1,
};

export function tabList(open: Tab, actions: Actions): TemplateResult {
  const press = (event: KeyboardEvent) => {
    // From the tab that has the focus: a second press may come before the first one is drawn.
    const from = event.target instanceof HTMLElement ? event.target.id : `tab-${open}`;
    const to = STEPS[event.key]?.(TABS.findIndex(([id]) => `tab-${id}` === from));
    const next = to === undefined ? undefined : TABS[to];
    if (!next) return;
    event.preventDefault();
    actions.chooseTab(next[0]);
    const tab = document.getElementById(`tab-${next[0]}`);
    tab?.focus();
    tab?.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  return html`<div class="tabs" role="tablist" aria-label=${say("jump.label")} @keydown=${press}>
    ${TABS.map(
      ([id, word]) =>
        html`<button
          type="button"
          role="tab"
          id="tab-${id}"
          aria-controls="panel-${id}"
          aria-selected=${id === open ? "true" : "false"}
          tabindex=${id === open ? nothing : "-1"}
          @click=${() => actions.chooseTab(id)}
        >
          ${say(word)}
        </button>`,
    )}
  </div>`;
}
