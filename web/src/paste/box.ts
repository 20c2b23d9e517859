// One box for whatever people have: a configuration, an error message, a command line, or all in one. It is read in
// the browser; what was understood of it is said key by key, and only then used.
import "../words/add-rest.ts";
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import type { Plan, Request } from "../contract.ts";
import { size } from "../format.ts";
import { isSuperseded, loadMore } from "../more.ts";
import { dotted, put } from "../pointer.ts";
import { say } from "../words/say.ts";
import { diagnosis } from "./diagnosis.ts";
import { copy, download } from "../save.ts";
import type { Diagnosis, Finding, Imported, Patched } from "./found.ts";
import { patched } from "./patched.ts";

const DELAY = 250;
const LARGEST = 16 * 2 ** 20;
const ORDER: Finding["use"][] = ["used", "implied", "unsupported", "unknown", "irrelevant"];

/** Somebody wants to use what was read: `detail` is the request. */
export type UseEvent = CustomEvent<Request>;

@customElement("plimsoll-paste")
export class PlimsollPaste extends LitElement {
  @property({ attribute: false }) request: Request = {};
  @state() private text = "";
  @state() private imported: Imported | undefined;
  @state() private diagnosed: Diagnosis | undefined;
  @state() private problem = "";
  @state() private patch: Patched | undefined;
  @state() private told = "";
  /** The text that the request came from, and the request as it was then. */
  private origin: { text: string; request: Request | undefined } | undefined;
  private fileName = "";
  private timer = 0;

  protected override createRenderRoot(): this {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener("dragover", this.overPage);
    document.addEventListener("drop", this.dropped);
    this.readLaunch();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener("dragover", this.overPage);
    document.removeEventListener("drop", this.dropped);
  }

  protected override willUpdate(changed: Map<string, unknown>): void {
    if (changed.has("request") && this.origin) void this.writeBack();
  }

  /** What has changed on the page since, in the words of the pasted file. */
  private async writeBack(): Promise<void> {
    const { origin, request } = this;
    if (!origin) return;
    if (!origin.request) {
      origin.request = request;
      return;
    }
    const before = origin.request;
    const patch = await loadMore()
      .then((core) => core.patch(origin.text, before, request))
      .catch((error: unknown) => {
        if (!isSuperseded(error)) throw error;
      });
    if (!patch || request !== this.request || origin !== this.origin) return;
    this.told = "";
    const any = (patch.diff ?? "") !== "" || (patch.left_out?.length ?? 0) > 0;
    this.patch = patch.ok && any ? patch : undefined;
  }

  private async copyPatched(): Promise<void> {
    const done = await copy(this.patch?.text ?? "");
    this.told = say(done ? "share.done" : "export.by_hand", { what: say("patch.copy") });
  }

  private savePatched(): void {
    const name = this.fileName || "plimsoll-config.txt";
    download(name, new Blob([this.patch?.text ?? ""], { type: "text/plain" }));
    this.told = say("share.done", { what: name });
  }

  private readonly overPage = (event: DragEvent) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  };

  private readonly dropped = (event: DragEvent) => {
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    void this.takeFile(file);
  };

  /** An installed page is handed files and shared text by the system. */
  private readLaunch(): void {
    const shared = new URL(window.location.href).searchParams;
    const text = ["title", "text", "url"]
      .map((name) => shared.get(name) ?? "")
      .join("\n")
      .trim();
    if (text !== "") this.take(text);
    const queue = (
      window as {
        launchQueue?: { setConsumer(take: (launch: { files?: FileSystemFileHandle[] }) => void): void };
      }
    ).launchQueue;
    queue?.setConsumer(({ files }) => {
      void files?.[0]?.getFile().then((file) => this.takeFile(file));
    });
  }

  private async takeFile(file: File): Promise<void> {
    if (file.size > LARGEST) {
      this.problem = say("paste.too_large", { size: size(file.size) });
      this.open();
      return;
    }
    this.take(await file.text());
    this.fileName = file.name;
  }

  /** Puts a text into the box and reads it. */
  take(text: string): void {
    this.text = text;
    this.fileName = "";
    this.open();
    void this.read();
  }

  private open(): void {
    const fold = this.querySelector("details");
    if (fold) fold.open = true;
  }

  private readSoon(text: string): void {
    this.text = text;
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.read(), DELAY);
  }

  private async read(): Promise<void> {
    const { text } = this;
    this.problem = "";
    if (text.trim() === "") {
      this.imported = undefined;
      this.diagnosed = undefined;
      return;
    }
    try {
      const core = await loadMore();
      const imported = await core.read(text);
      if (text !== this.text) return;
      const config = imported.ok && imported.request ? imported.request : undefined;
      this.imported = imported;
      const diagnosed = await core.diagnose(text, config && !imported.partial ? config : this.request);
      if (text === this.text) this.diagnosed = diagnosed;
    } catch (error) {
      if (isSuperseded(error)) return;
      this.problem = say("paste.failed", { why: error instanceof Error ? error.message : String(error) });
    }
  }

  private use(request: Request): void {
    // A part of a configuration changes what is there; a whole one replaces it.
    this.origin = { text: this.imported?.part ?? this.text, request: undefined };
    this.patch = undefined;
    const merged = this.imported?.partial ? merge(this.request, request) : keepGpu(this.request, request);
    this.dispatchEvent(new CustomEvent("use", { detail: merged }));
  }

  /** The changes of a plan, also in the words of the file where one was pasted. */
  private applyPlan(before: Request, plan: Plan): void {
    const whole = this.imported?.ok === true && !this.imported.partial;
    this.origin = whole ? { text: this.imported?.part ?? this.text, request: before } : undefined;
    this.patch = undefined;
    const after = plan.changes.reduce((request, { pointer, to }) => put(request, pointer, to), before);
    this.dispatchEvent(new CustomEvent("use", { detail: after }));
  }

  private findings(imported: Imported): TemplateResult {
    const counts = imported.counts;
    const keys = [...(imported.keys ?? [])].sort(
      (one, other) => ORDER.indexOf(one.use) - ORDER.indexOf(other.use),
    );
    const request = imported.request;
    return html`<section class="found" aria-labelledby="found-title">
      <h3 id="found-title">${say("paste.format", { name: imported.format?.name ?? "" })}</h3>
      ${counts
        ? html`<p>
            ${ORDER.filter((use) => counts[use] > 0)
              .map((use) => say(`paste.${use}`, { count: counts[use] }))
              .join(", ")}.
          </p>`
        : nothing}
      ${imported.errors.length > 0
        ? html`<ul class="notes" lang="en">
            ${imported.errors.map((error) => html`<li>${error.message}</li>`)}
          </ul>`
        : nothing}
      ${imported.notes && imported.notes.length > 0
        ? html`<ul class="notes" lang="en">
            ${imported.notes.map((note) => html`<li>${note}</li>`)}
          </ul>`
        : nothing}
      ${request
        ? html`<button type="button" class="apply" @click=${() => this.use(request)}>
            ${say(imported.partial ? "paste.add" : "paste.use")}
          </button>`
        : nothing}
      <details>
        <summary>${say("paste.keys", { count: keys.length })}</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">${say("paste.key")}</th>
              <th scope="col">${say("paste.fate")}</th>
              <th scope="col">${say("paste.field")}</th>
            </tr>
          </thead>
          <tbody>
            ${keys.map(
              (key) =>
                html`<tr>
                  <th scope="row"><code>${key.key}</code></th>
                  <td>${say(`use.${key.use}`)}</td>
                  <td>
                    ${key.pointer ? html`<code>${dotted(key.pointer)}</code>` : nothing}
                    <span lang="en">${key.message ?? ""}</span>
                  </td>
                </tr>`,
            )}
          </tbody>
        </table>
      </details>
    </section>`;
  }

  protected override render(): TemplateResult {
    const { imported, diagnosed } = this;
    const failure = diagnosed?.ok === true;
    const config = imported && (imported.ok || (imported.format && imported.request));
    return html`<section aria-label=${say("paste.title")}>
      <details class="paste">
        <summary>${say("paste.title")}</summary>
        <div class="field">
          <label for="paste-text">${say("paste.label")}</label>
          <textarea
            id="paste-text"
            rows="6"
            spellcheck="false"
            autocapitalize="off"
            aria-describedby="paste-help"
            .value=${this.text}
            @input=${(event: InputEvent) => this.readSoon((event.target as HTMLTextAreaElement).value)}
          ></textarea>
          <p class="help" id="paste-help">${say("paste.help")}</p>
          <p>
            <label class="pick"
              >${say("paste.pick")}
              <input
                type="file"
                accept=".yaml,.yml,.json,.py,.sh,.txt,.log,.ipynb"
                @change=${(event: Event) => {
                  const file = (event.target as HTMLInputElement).files?.[0];
                  if (file) void this.takeFile(file);
                }}
            /></label>
          </p>
        </div>
        <div aria-live="polite">
          ${this.problem ? html`<p class="complaint">${this.problem}</p>` : nothing}
          ${failure && diagnosed
            ? diagnosis(diagnosed, !config || imported.partial === true, (plan) =>
                this.applyPlan(diagnosed.request ?? this.request, plan),
              )
            : nothing}
          ${config ? this.findings(imported) : nothing}
          ${this.patch
            ? patched(this.patch, this.told, {
                copy: () => void this.copyPatched(),
                save: () => this.savePatched(),
              })
            : nothing}
          ${imported && !config && !failure
            ? html`<p class="complaint" lang="en">
                ${imported.errors.map((error) => error.message).join(" ")}
              </p>`
            : nothing}
        </div>
      </details>
    </section>`;
  }
}

const isTree = (value: unknown): value is Request =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function merge(under: Request, over: Request): Request {
  const merged: Request = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const old = merged[key];
    merged[key] = isTree(old) && isTree(value) ? merge(old, value) : value;
  }
  return merged;
}

/** A training file does not know the GPU it runs on; the page does. */
const keepGpu = (old: Request, fresh: Request): Request =>
  fresh["hardware"] === undefined && old["hardware"] !== undefined
    ? { ...fresh, hardware: old["hardware"] }
    : fresh;
