// A row of a table that opens: its heading is a button, and what it opens is a row of its own below.
import { html, nothing, type TemplateResult } from "lit";
import type { Actions, View } from "./view.ts";

export function opener(id: string, name: unknown, view: View, actions: Actions): TemplateResult {
  const open = view.row === id;
  return html`<button
    type="button"
    class="opens"
    aria-expanded=${open ? "true" : "false"}
    @click=${() => actions.look({ row: open ? undefined : id })}
  >
    ${name}
  </button>`;
}

export const opened = (
  id: string,
  columns: number,
  body: unknown,
  view: View,
): TemplateResult | typeof nothing =>
  view.row === id
    ? html`<tr class="opened">
        <td colspan=${columns}>${body}</td>
      </tr>`
    : nothing;
