// The request as a file of another tool, a list to check the run against, a table: chosen, looked at, taken along.
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import type { Request } from "../contract.ts";
import { isSuperseded, loadMore } from "../more.ts";
import type { Exported, Format } from "../paste/found.ts";
import { dotted } from "../pointer.ts";
import { copy, download } from "../save.ts";
import { say } from "../words/say.ts";

const ENDINGS: Record<string, string> = {
  yaml: "yaml",
  json: "json",
  python: "py",
  shell: "sh",
  markdown: "md",
  csv: "csv",
};

@customElement("plimsoll-export")
export class PlimsollExport extends LitElement {
  @property({ attribute: false }) request: Request = {};
  @state() private formats: Format[] = [];
  @state() private chosen = "axolotl";
  @state() private exported: Exported | undefined;
  @state() private told = "";
  private open = false;

  protected override createRenderRoot(): this {
    return this;
  }

  protected override willUpdate(changed: Map<string, unknown>): void {
    if (this.open && (changed.has("request") || changed.has("chosen"))) void this.make();
  }

  private toggled(event: Event): void {
    this.open = (event.target as HTMLDetailsElement).open;
    if (this.open) void this.make();
  }

  private async make(): Promise<void> {
    const { request, chosen } = this;
    try {
      const core = await loadMore();
      if (this.formats.length === 0) this.formats = (await core.formats()).filter((format) => format.writes);
      const exported = await core.exportAs(request, chosen);
      if (request !== this.request || chosen !== this.chosen) return;
      this.told = "";
      this.exported = exported;
    } catch (error) {
      if (!isSuperseded(error)) throw error;
    }
  }

  private get file(): string {
    const format = this.formats.find((each) => each.id === this.chosen);
    return `plimsoll-${this.chosen}.${ENDINGS[format?.language ?? ""] ?? "txt"}`;
  }

  private async copied(): Promise<void> {
    const done = await copy(this.exported?.text ?? "");
    this.told = say(done ? "share.done" : "export.by_hand", { what: say("patch.copy") });
  }

  private saved(): void {
    download(this.file, new Blob([this.exported?.text ?? ""], { type: "text/plain" }));
    this.told = say("share.done", { what: this.file });
  }

  protected override render(): TemplateResult {
    const { exported } = this;
    const leftOut = exported?.left_out ?? [];
    return html`<details class="export" @toggle=${(event: Event) => this.toggled(event)}>
      <summary>${say("export.title")}</summary>
      <div class="field">
        <label for="export-format">${say("export.format")}</label>
        <select
          id="export-format"
          @change=${(event: Event) => (this.chosen = (event.target as HTMLSelectElement).value)}
        >
          ${this.formats.map(
            (format) =>
              html`<option value=${format.id} ?selected=${format.id === this.chosen}>${format.name}</option>`,
          )}
        </select>
      </div>
      ${exported?.ok
        ? html`<pre class="diff" tabindex="0" aria-label=${say("export.title")}>${exported.text}</pre>
            ${leftOut.length > 0
              ? html`<p>
                  ${say("export.left_out")}
                  ${leftOut.map((pointer, at) => html`${at > 0 ? ", " : ""}<code>${dotted(pointer)}</code>`)}
                </p>`
              : nothing}
            <div class="buttons">
              <button type="button" @click=${() => void this.copied()}>${say("patch.copy")}</button>
              <button type="button" @click=${() => this.saved()}>${say("patch.save")}</button>
            </div>`
        : nothing}
      ${exported && !exported.ok
        ? html`<p class="complaint" lang="en">${exported.errors.map((error) => error.message).join(" ")}</p>`
        : nothing}
      ${this.told ? html`<p class="told" role="status">${this.told}</p>` : nothing}
    </details>`;
  }
}
