// The pasted file again, with what changed on the page written into it: the lines that differ, to be copied or saved.
import { html, nothing, type TemplateResult } from "lit";
import type { Request } from "../contract.ts";
import { isSuperseded, loadMore } from "../more.ts";
import { dotted } from "../pointer.ts";
import { copy, download } from "../save.ts";
import { say } from "../words/say.ts";
import type { Patched } from "./found.ts";

async function take({ text = "" }: Patched): Promise<string> {
  const done = await copy(text);
  return say(done ? "share.done" : "export.by_hand", { what: say("patch.copy") });
}

function save({ text = "" }: Patched, name: string): string {
  download(name, new Blob([text], { type: "text/plain" }));
  return say("share.done", { what: name });
}

const KIND: Record<string, string> = { "+": "added", "-": "gone", "@": "place" };

// A span a line, without the blanks of a template between them: `pre` would show those.
const line = (text: string) => html`<span class=${KIND[text[0] ?? ""] ?? "same"}>${text}${"\n"}</span>`;

/** Which card it is no training file says. */
const isToTell = ({ ok, diff = "", left_out = [] }: Patched): boolean =>
  ok && (diff !== "" || left_out.some(({ pointer }) => pointer !== "/hardware/gpu"));

/** The texts that one request came from with what is another in the next; undefined: a later question took its place. */
export async function writtenBack(
  texts: string[],
  before: Request,
  after: Request,
): Promise<Patched[] | undefined> {
  try {
    const core = await loadMore();
    return (await core.patch(texts, before, after)).filter(isToTell);
  } catch (error) {
    if (!isSuperseded(error)) throw error;
    return undefined;
  }
}

/** One of `all` files; `names`: what they came with, by their text. `tell` is given what has been done. */
export function patched(
  patch: Patched,
  all: Patched[],
  names: Map<string, string>,
  told: string,
  tell: (done: string) => void,
): TemplateResult {
  const name = names.get(patch.of);
  const which = all.length > 1 ? ` (${name ?? patch.format?.name ?? ""})` : "";
  const id = `patched-title-${all.indexOf(patch)}`;
  const lines = (patch.diff ?? "").split("\n").filter((each) => each !== "");
  const leftOut = patch.left_out ?? [];
  const environment = Object.entries(patch.environment ?? {});
  return html`<section class="found patched" aria-labelledby=${id}>
    <div class="line">
      <h3 id=${id}>${say("patch.title")}${which}</h3>
      ${lines.length === 0
        ? html`<small>${say("patch.same")}</small>`
        : html`<button type="button" @click=${() => void take(patch).then(tell)}>${say("patch.copy")}</button>
            <button type="button" @click=${() => tell(save(patch, name ?? "plimsoll-config.txt"))}>
              ${say("patch.save")}
            </button>`}
      ${told ? html`<small class="told" role="status">${told}</small>` : nothing}
      <details>
        <summary>
          ${say("patch.lines", { count: lines.filter((each) => each.startsWith("+")).length })}
        </summary>
        ${lines.length === 0
          ? nothing
          : html`<pre class="diff" tabindex="0" aria-labelledby=${id}>${lines.map(line)}</pre>`}
        ${environment.length > 0
          ? html`<p>${say("patch.environment")}</p>
              <pre class="diff" tabindex="0" aria-label=${say("patch.environment")}>
${environment.map(([name, value]) => `export ${name}=${value}`).join("\n")}</pre
              >`
          : nothing}
        ${leftOut.length > 0
          ? html`<p>${say("patch.left_out")}</p>
              <ul class="notes" lang="en">
                ${leftOut.map(
                  (left) =>
                    html`<li>
                      <code>${dotted(left.pointer)}: ${JSON.stringify(left.value)}</code> (${left.why})
                    </li>`,
                )}
              </ul>`
          : nothing}
      </details>
    </div>
  </section>`;
}
