// The request as a file of another tool, a list to check the run against, a table: chosen, looked at, taken along.
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import type { Request } from "../contract.ts";
import { sizeWords } from "../format.ts";
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

/** Nearer than this, two runs need the same. */
const CLOSE = 0.01;

@customElement("plimsoll-export")
export class PlimsollExport extends LitElement {
  @property({ attribute: false }) request: Request = {};
  /** Language and unit that its words and sizes are in: with another, all of it is drawn anew. */
  @property({ attribute: false }) spoken = "";
  @state() private formats: Format[] = [];
  @state() private chosen = "axolotl";
  @state() private exported: Exported | undefined;
  /** Bytes on the device of the run that the file is, where that is another than this one. */
  @state() private needs: number | undefined;
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
      this.needs = undefined;
      this.exported = exported;
      const needs = await this.weigh(exported);
      if (request === this.request && chosen === this.chosen) this.needs = needs;
    } catch (error) {
      if (!isSuperseded(error)) throw error;
    }
  }

  /** A tool has defaults of its own: its file is read as anybody's would be, for the card that is meant here. */
  private async weigh({ ok, text }: Exported): Promise<number | undefined> {
    const core = await loadMore();
    const read = ok && text ? await core.read([text]) : undefined;
    if (!read?.ok || read.partial || !read.request) return undefined;
    const machine = {
      hardware: this.request["hardware"] ?? null,
      parallel: this.request["parallel"] ?? null,
    };
    const [own, other] = await Promise.all([
      core.weigh(this.request),
      core.weigh({ ...machine, ...read.request }),
    ]);
    if (!own.ok || !other.ok) return undefined;
    const needs = other.memory.peak.device;
    return Math.abs(needs / own.memory.peak.device - 1) > CLOSE ? needs : undefined;
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
            ${this.needs === undefined
              ? nothing
              : html`<p class="needs" role="status">
                  ${say("export.needs", { size: sizeWords(this.needs) })}
                </p>`}
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
