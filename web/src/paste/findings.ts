// What became of each key of a pasted text.
import { html, nothing, type TemplateResult } from "lit";
import { dotted } from "../pointer.ts";
import { say } from "../words/say.ts";
import type { Finding, Imported } from "./found.ts";

const ORDER: Finding["use"][] = ["used", "implied", "unsupported", "unknown", "irrelevant"];

const list = (lines: string[]) =>
  lines.length > 0
    ? html`<ul class="notes" lang="en">
        ${lines.map((line) => html`<li>${line}</li>`)}
      </ul>`
    : nothing;

function keysOf(imported: Imported): TemplateResult {
  const keys = [...(imported.keys ?? [])].sort(
    (one, other) => ORDER.indexOf(one.use) - ORDER.indexOf(other.use),
  );
  return html`<details>
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
  </details>`;
}

/** `act`: a button, or what was done already. */
export function findings(imported: Imported, act: unknown): TemplateResult {
  const { counts } = imported;
  const said = counts
    ? ORDER.filter((use) => counts[use] > 0).map((use) => say(`paste.${use}`, { count: counts[use] }))
    : [];
  return html`<section class="found" aria-labelledby="found-title">
    <div class="line">
      <h2 id="found-title">
        ${say("paste.chip", { name: imported.format?.name ?? "", count: imported.keys?.length ?? 0 })}
      </h2>
      ${act} ${said.length > 0 ? html`<small>${said.join(", ")}.</small>` : nothing} ${keysOf(imported)}
    </div>
    ${list(imported.errors.map(({ message }) => message))} ${list(imported.notes ?? [])}
  </section>`;
}

/** What can be done with a text: take it back where it has been applied, else use it; `does` says how. */
export function acts(
  applied: boolean,
  does: string | undefined,
  quiet: boolean,
  { change, undo, use }: Record<"change" | "undo" | "use", () => unknown>,
): TemplateResult | typeof nothing {
  if (applied) {
    return html`<div class="buttons">
      <button type="button" @click=${change}>${say("paste.change")}</button>
      <button type="button" @click=${undo}>${say("paste.undo")}</button>
    </div>`;
  }
  if (does === undefined) return nothing;
  return html`<button type="button" class=${quiet ? "quiet" : "apply"} @click=${use}>${does}</button>`;
}
