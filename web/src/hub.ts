// A model that no preset holds, by its config.json from Hugging Face: asked for only when the button is pressed, because that sends
// the model's name there. It is the one host beside its own that the page may speak to (connect-src in index.html).
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import type { CoreError, Json } from "./contract.ts";
import { loadMore } from "./more.ts";
import { get, isObject } from "./pointer.ts";
import type { Actions, View } from "./view.ts";
import { say, type Word } from "./words/say.ts";

const HOST = "https://huggingface.co";
/** "org/name", as Hugging Face allows them. */
const ID = /^[\w.-]+\/[\w.-]+$/;

/** Hugging Face does not say whether a model that it refuses exists. */
const WHY: Record<number, Word> = { 401: "hub.refused", 403: "hub.refused", 404: "hub.missing" };

@customElement("plimsoll-hub")
export class PlimsollHub extends LitElement {
  @property({ attribute: false }) model = "";
  @state() private asking = false;
  @state() private problem: Word | undefined;

  protected override createRenderRoot(): this {
    return this;
  }

  protected override willUpdate(changed: Map<string, unknown>): void {
    if (changed.has("model")) this.problem = undefined;
  }

  private async fetchConfig(model: string): Promise<string | undefined> {
    try {
      const answer = await fetch(`${HOST}/${model}/resolve/main/config.json`, {
        credentials: "omit",
        referrerPolicy: "no-referrer",
      });
      if (answer.ok) return await answer.text();
      this.problem = WHY[answer.status] ?? "hub.failed";
    } catch {
      this.problem = "hub.failed";
    }
    return undefined;
  }

  private async ask(): Promise<void> {
    const { model } = this;
    this.asking = true;
    this.problem = undefined;
    const text = await this.fetchConfig(model);
    const read = text === undefined ? undefined : await loadMore().then((core) => core.read([text]));
    this.asking = false;
    if (model !== this.model || text === undefined) return;
    const found: Json | undefined = read?.ok ? read.request?.["model"] : undefined;
    if (isObject(found)) this.dispatchEvent(new CustomEvent("found", { detail: { ...found, name: model } }));
    else this.problem = "hub.strange";
  }

  protected override render(): TemplateResult {
    return html`<button type="button" class="repair" ?disabled=${this.asking} @click=${() => void this.ask()}>
        ${say(this.asking ? "hub.asking" : "hub.ask")}
      </button>
      ${this.problem ? html`<p role="status">${say(this.problem)} ${say("hub.instead")}</p>` : nothing}`;
  }
}

/** Beside what the core says of a model that it does not know. */
export function hub({ pointer }: CoreError, view: View, actions: Actions): TemplateResult | typeof nothing {
  const model = get(view.request, "/model");
  if (pointer !== "/model" || typeof model !== "string" || !ID.test(model)) return nothing;
  return html`<plimsoll-hub
    .model=${model}
    @found=${(event: CustomEvent<Json>) => actions.edit([{ pointer, value: event.detail }], "step")}
  ></plimsoll-hub>`;
}
