// <plimsoll-card link="#v=1&..." theme="dark"></plimsoll-card>: the card without a frame, for pages whose policy allows
// WebAssembly. The core is loaded once for all cards of a page.
import { LitElement, nothing, unsafeCSS, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { adoptColours } from "../colours.ts";
import { loadCore, type Core } from "../core.ts";
import cardStyle from "../styles/card.css?inline";
import tokenStyle from "../styles/tokens.css?inline";
import { card, prepare, type Prepared } from "./card.ts";

let core: Promise<Core> | undefined;

export class PlimsollCard extends LitElement {
  static override styles = [unsafeCSS(tokenStyle), unsafeCSS(cardStyle)];

  @property() link = "";
  @property() theme = "";
  @state() private drawn: { link: string; prepared: Prepared | undefined } | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.shadowRoot && !this.drawn) adoptColours(this.shadowRoot);
    void this.load();
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.has("link")) void this.load();
  }

  private async load(): Promise<void> {
    const { link } = this;
    const loaded = await (core ??= loadCore());
    await this.draw(loaded, link, false);
    // Where the second module cannot be had, the quick answer stays.
    await this.draw(loaded, link, true).catch(() => undefined);
  }

  private async draw(loaded: Core, link: string, whole: boolean): Promise<void> {
    const prepared = await prepare(loaded, link, whole);
    if (link === this.link) this.drawn = { link, prepared };
  }

  protected override firstUpdated(): void {
    if (this.shadowRoot) adoptColours(this.shadowRoot);
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.drawn) return nothing;
    return card(this.drawn.prepared, this.drawn.link, new URL("./", import.meta.url).href);
  }
}

if (!customElements.get("plimsoll-card")) customElements.define("plimsoll-card", PlimsollCard);
