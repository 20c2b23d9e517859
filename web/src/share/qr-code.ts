// The address as a QR code, made when somebody opens the fold: from the screen of a computer to a phone, or onto a slide.
import { html, LitElement, nothing, svg, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { say } from "../words/say.ts";
import type { Code } from "./qr.ts";

/** A longer one has squares too small for a phone that looks at a screen. */
const LONGEST = 900;

@customElement("plimsoll-qr")
export class PlimsollQr extends LitElement {
  @property() address = "";
  @state() private code: Code | undefined;
  private open = false;

  protected override createRenderRoot(): this {
    return this;
  }

  protected override willUpdate(changed: Map<string, unknown>): void {
    if (this.open && changed.has("address")) void this.make();
  }

  private async make(): Promise<void> {
    const { address } = this;
    if (address.length > LONGEST) {
      this.code = undefined;
      return;
    }
    const { code } = await import("./qr.ts");
    if (address === this.address) this.code = code(address);
  }

  protected override render(): TemplateResult {
    const { code } = this;
    const toggled = (event: Event) => {
      this.open = (event.target as HTMLDetailsElement).open;
      if (this.open) void this.make();
    };
    return html`<details class="qr" @toggle=${toggled}>
      <summary>${say("share.qr")}</summary>
      ${this.address.length > LONGEST ? html`<p>${say("share.qr_long")}</p>` : nothing}
      ${code
        ? html`<svg
            role="img"
            aria-label=${say("share.qr_alt")}
            viewBox="0 0 ${code.size} ${code.size}"
            shape-rendering="crispEdges"
          >
            ${svg`<rect width=${code.size} height=${code.size} fill="#fff" /><path d=${code.path} fill="#000" />`}
          </svg>`
        : nothing}
    </details>`;
  }
}
