// The list of a combobox (ARIA 1.2, list autocomplete): stands behind the input that it serves, which works without it too.
//
//     <input role="combobox" ...><plimsoll-options .entries=${() => entries} @choose=${(event) => take(event.detail)}>
import { html, LitElement, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { counted, find, type Entry } from "./find.ts";
import { say } from "./words/say.ts";

const SHOWN = 60;

/** An owner and a name say one model: another one that only resembles it has to be chosen. */
const takes = (text: string, { name }: Entry): boolean =>
  text.trim() !== "" && (!text.includes("/") || name.toLowerCase().startsWith(text.trim().toLowerCase()));

export type ChooseEvent = CustomEvent<{ value: string; count?: number }>;

@customElement("plimsoll-options")
export class PlimsollOptions extends LitElement {
  @property({ attribute: false }) entries: () => Entry[] = () => [];
  /** Whether a number and an x before a name say how many. */
  @property({ attribute: false }) counts = false;
  @state() private found: Entry[] = [];
  @state() private open = false;
  @state() private active = -1;
  private input: HTMLInputElement | undefined;
  /** Something that was typed is looked for again when more models have come. */
  private typed = false;

  protected override createRenderRoot(): this {
    return this;
  }

  protected override firstUpdated(): void {
    const input = this.previousElementSibling;
    if (!(input instanceof HTMLInputElement)) return;
    this.input = input;
    input.addEventListener("input", () => {
      this.typed = true;
      this.show(input.value);
    });
    input.addEventListener("click", () => this.show(""));
    input.addEventListener("blur", () => this.close());
    input.addEventListener("keydown", (event) => this.pressed(event));
  }

  protected override willUpdate(changed: Map<string, unknown>): void {
    if (changed.has("entries") && this.typed && !this.open && this.input) this.show(this.input.value);
  }

  protected override updated(): void {
    const { input } = this;
    if (!input) return;
    input.setAttribute("aria-expanded", String(this.open));
    if (this.active >= 0) input.setAttribute("aria-activedescendant", this.optionId(this.active));
    else input.removeAttribute("aria-activedescendant");
    this.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }

  private optionId(index: number): string {
    return `${this.input?.id ?? ""}-option-${index}`;
  }

  private show(text: string): void {
    this.found = find(this.entries(), this.counts ? counted(text).name : text);
    this.open = this.found.length > 0;
    this.active = this.found[0] && takes(text, this.found[0]) ? 0 : -1;
  }

  private close(): void {
    this.typed = false;
    this.open = false;
    this.active = -1;
  }

  private pressed(event: KeyboardEvent): void {
    if (event.key === "Escape" && this.open) {
      event.preventDefault();
      this.close();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!this.open) this.show("");
      const count = Math.min(this.found.length, SHOWN);
      const step = event.key === "ArrowDown" ? 1 : -1;
      this.active = count === 0 ? -1 : (Math.max(this.active, step > 0 ? -1 : 0) + step + count) % count;
    } else if (event.key === "Enter" && this.open) {
      const match = this.found[this.active];
      if (!match) return;
      event.preventDefault();
      this.choose(match);
    }
  }

  private choose({ value, name }: Entry): void {
    const { count } = this.counts ? counted(this.input?.value ?? "") : {};
    if (this.input) this.input.value = name;
    this.close();
    const detail = count === undefined ? { value } : { value, count };
    this.dispatchEvent(new CustomEvent("choose", { detail }));
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.open || !this.input) return nothing;
    const rest = this.found.length - SHOWN;
    return html`<ul
      class="options"
      role="listbox"
      id="${this.input.id}-list"
      aria-label=${say("options.label")}
    >
      ${this.found.slice(0, SHOWN).map(
        (entry, index) =>
          html`<li
            role="option"
            id=${this.optionId(index)}
            aria-selected=${index === this.active ? "true" : "false"}
            @mousedown=${(event: MouseEvent) => {
              event.preventDefault();
              this.choose(entry);
            }}
          >
            ${entry.name} <small>${entry.detail}</small>
          </li>`,
      )}
      ${rest > 0
        ? html`<li class="beyond" role="presentation">${say("options.more", { count: rest })}</li>`
        : nothing}
    </ul>`;
  }
}

/** Behind an input of the form. */
export const options = (
  entries: () => Entry[],
  counts: boolean,
  choose: (value: string, count?: number) => void,
): TemplateResult =>
  html`<plimsoll-options
    .entries=${entries}
    .counts=${counts}
    @choose=${({ detail }: ChooseEvent) => choose(detail.value, detail.count)}
  ></plimsoll-options>`;
