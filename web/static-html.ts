// A Lit template as text, for what is drawn when the site is built and replaced by the living page: bindings to events are left
// out, properties that have an attribute of their own become it.
//
//     staticHtml(html`<b ?hidden=${false} @click=${act}>${"1 < 2"}</b>`)     -> "<b >1 &lt; 2</b>"
import { noChange, nothing } from "lit";

interface Template {
  _$litType$: number;
  strings: readonly string[];
  values: unknown[];
}

interface Directive {
  _$litDirective$: { prototype: { render(...values: unknown[]): unknown } };
  values: unknown[];
}

const isTemplate = (value: unknown): value is Template =>
  typeof value === "object" && value !== null && "_$litType$" in value;
const isDirective = (value: unknown): value is Directive =>
  typeof value === "object" && value !== null && "_$litDirective$" in value;

const escape = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** Those of the page (live, guard) keep nothing between two drawings that the first needs. */
const direct = (value: unknown): unknown =>
  isDirective(value) ? direct(value._$litDirective$.prototype.render(...value.values)) : value;

const ATTRIBUTE = /\s([.?@]?)([\w:-]+)=("?)([^"<>]*)$/;

export function staticHtml(given: unknown): string {
  const value = direct(given);
  if (value === nothing || value === noChange || value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(staticHtml).join("");
  return isTemplate(value) ? filled(value) : escape(String(value));
}

function filled({ strings, values }: Template): string {
  let text = "";
  /** The attribute that is being written: one of several values is open until its quotation mark. */
  let open = false;
  strings.forEach((piece, index) => {
    text += piece.replace(/\s+/g, " ");
    if (index >= values.length) return;
    const value = direct(values[index]);
    if (open) {
      text += escape(String(value));
      open = !(strings[index + 1] ?? "").includes('"');
      return;
    }
    const [whole, kind, name, quote, start] = ATTRIBUTE.exec(text) ?? [];
    if (whole === undefined || text.lastIndexOf(">") > text.lastIndexOf("<")) {
      text += staticHtml(value);
      return;
    }
    const before = text.slice(0, -whole.length);
    if (kind === "@" || value === nothing || value === undefined) text = before;
    else if (kind === "?" || name === "checked") text = value ? `${before} ${name}` : before;
    else if (kind === "." && !(name === "value" && /<input[^<]*$/.test(before))) text = before;
    else if (quote === "") text = `${before} ${name}="${escape(String(value))}"`;
    else {
      text = `${before} ${name}="${start}${escape(String(value))}`;
      open = !(strings[index + 1] ?? "").includes('"');
    }
  });
  return text;
}
