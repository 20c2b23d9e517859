// <plimsoll-card link="#v=1&..." theme="dark"></plimsoll-card>: the card without a frame, for pages whose policy allows
// WebAssembly. The core is loaded once for all cards of a page.
import { LitElement, nothing, unsafeCSS, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { adoptColours } from "../colours.ts";
import { loadCore, type Core } from "../core.ts";
import cardStyle from "../styles/card.css?inline";
import tokenStyle from "../styles/tokens.css?inline";
import { card } from "./card.ts";

let core: Promise<Core> | undefined;

export class PlimsollCard extends LitElement {
  static override styles = [unsafeCSS(tokenStyle), unsafeCSS(cardStyle)];

  @property() link = "";
  @property() theme = "";
  @state() private core: Core | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.shadowRoot && !this.core) adoptColours(this.shadowRoot);
    void (core ??= loadCore()).then((loaded) => (this.core = loaded));
  }

  protected override firstUpdated(): void {
    if (this.shadowRoot) adoptColours(this.shadowRoot);
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.core) return nothing;
    return card(this.core, this.link, new URL("./", import.meta.url).href);
  }
}

if (!customElements.get("plimsoll-card")) customElements.define("plimsoll-card", PlimsollCard);
