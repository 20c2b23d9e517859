// Ways to take the answer along: as a link, a table, a picture, an embedded card.
import { html, nothing, type TemplateResult } from "lit";
import type { Report, Request } from "../contract.ts";
import { headline } from "../headline.ts";
import { COMPARING, encode, withTab } from "../link.ts";
import { madeOf } from "../made.ts";
import { say, spoken, type Word } from "../words/say.ts";
import type { Actions, View } from "../view.ts";
import { copy, download } from "../save.ts";
import { describe } from "./describe.ts";
import "./export.ts";
import "./qr-code.ts";
import { png, svgBadge, svgCard } from "./svg-card.ts";
import { csv, markdown } from "./tables.ts";

function line(report: Report, request: Request): string {
  const { model, batch } = describe(report, request);
  return `${headline(report, request)} (${model}, ${batch})`;
}

interface Way {
  word: Word;
  /** A file is downloaded, text is copied. */
  file?: string;
  make: (report: Report, request: Request, address: string) => string | Promise<Blob>;
  type?: string;
}

/** Where two requests are compared, of both. */
function addressOf(view: View): string {
  const alone = encode(view.request, madeOf(view));
  const both = view.tab === COMPARING && view.kept;
  return new URL(both ? withTab(alone, COMPARING, both) : alone, window.location.href).href;
}

const pageAddress = (address: string) => address.split("#")[0] ?? address;

/** The frame for a page that allows frames; `embed.js` beside it sizes it. */
export function embedCode(address: string): string {
  const hash = address.slice(pageAddress(address).length);
  const source = `${new URL("embed.js", pageAddress(address)).href}`;
  return `<script async src="${source}" data-link="${hash.replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"></script>`;
}

/** In the card, where it is always in sight. */
const LINK: Way = { word: "share.link", make: (_report, _request, address) => address };

const WAYS: Way[] = [
  // For chats, which show no preview of what stands after a #.
  { word: "share.line", make: (report, request, address) => `${line(report, request)}\n${address}` },
  { word: "share.markdown", make: markdown },
  { word: "share.iframe", make: (_report, _request, address) => embedCode(address) },
  { word: "share.json", make: (report) => `${JSON.stringify(report, null, 2)}\n` },
  { word: "share.csv", file: "plimsoll.csv", type: "text/csv", make: csv },
  { word: "share.svg", file: "plimsoll-card.svg", type: "image/svg+xml", make: svgCard },
  { word: "share.png", file: "plimsoll-card.png", make: (report, request) => png(svgCard(report, request)) },
  { word: "share.badge", file: "plimsoll-badge.svg", type: "image/svg+xml", make: svgBadge },
];

async function take(way: Way, actions: Actions): Promise<void> {
  const view = actions.now();
  if (!view?.report) return;
  // The address may still be the bare one, or a keystroke behind.
  const made = await way.make(view.report, view.request, addressOf(view));
  if (way.file) {
    download(way.file, typeof made === "string" ? new Blob([made], { type: way.type ?? "" }) : made);
    actions.tell(say("share.done", { what: way.file }));
    return;
  }
  const text = String(made);
  if (await copy(text)) actions.tell(say("share.done", { what: say(way.word) }));
  else {
    actions.tell(say("share.failed", { what: say(way.word) }), text);
    actions.chooseTab("share");
  }
}

export function linkButton({ told }: View, actions: Actions): TemplateResult {
  return html`<button
      type="button"
      class="quiet"
      data-share=${LINK.word}
      @click=${() => void take(LINK, actions)}
    >
      ${say(LINK.word)}
    </button>
    ${told?.message.includes(say(LINK.word)) ? html`<span class="told">${told.message}</span>` : nothing}`;
}

export function sharePanel(view: View, _report: Report, actions: Actions): TemplateResult {
  return html`<section class="panel share" aria-labelledby="share-title">
    <h3 id="share-title">${say("share.title")}</h3>
    <p class="caption">${say("share.caption")}</p>
    <div class="buttons">
      ${WAYS.map(
        (way) =>
          html`<button type="button" data-share=${way.word} @click=${() => void take(way, actions)}>
            ${say(way.word)}
          </button>`,
      )}
      <a href="./docs/embed.html${encode(view.request, madeOf(view))}">${say("share.builder")}</a>
    </div>
    <plimsoll-export .request=${view.request} .spoken=${spoken()}></plimsoll-export>
    <plimsoll-qr .address=${addressOf(view)}></plimsoll-qr>
    ${view.told && !view.told.message.includes(say(LINK.word))
      ? html`<p class="told">${view.told.message}</p>`
      : nothing}
    ${view.told?.text
      ? html`<textarea
          class="by-hand"
          readonly
          rows="6"
          aria-label=${view.told.message}
          .value=${view.told.text}
        ></textarea>`
      : nothing}
  </section>`;
}
