// The builder of embedded cards: a link and a theme in, the code and what it looks like out.
import "./page.ts";
import { html, nothing, render, type TemplateResult } from "lit";
import { loadCore } from "../core.ts";
import { decode, encode } from "../link.ts";
import { loadMore } from "../more.ts";
import { copy } from "../save.ts";
import { svgCard } from "../share/svg-card.ts";

const place = document.getElementById("builder");
const core = await loadCore();
const home = new URL("../", window.location.href).href;
const first = core.scenarios.find((scenario) => scenario.id === "d-after") ?? core.scenarios[0];
const state = {
  link: window.location.hash.length > 1 ? window.location.hash : encode(first?.request ?? {}),
  theme: "system",
  height: 230,
  /** The card as a picture, of the link that it was drawn for. */
  picture: { link: "", svg: "" },
  /** Which code was copied last, and whether it was. */
  told: "",
  done: "",
};

/** The fragment of whatever was pasted: a whole address, or the fragment alone. */
const fragmentOf = (text: string) => (text.includes("#") ? text.slice(text.indexOf("#")) : text);
const attribute = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

interface Code {
  name: string;
  why: string;
  code: string;
}

function codes(): Code[] {
  const link = attribute(state.link);
  const query = state.theme === "system" ? "" : `?theme=${state.theme}`;
  const theme = state.theme === "system" ? "" : ` data-theme="${state.theme}"`;
  const attributeTheme = state.theme === "system" ? "" : ` theme="${state.theme}"`;
  return [
    {
      name: "One tag",
      why: "Builds the frame and keeps it as high as the card. For pages that may run a script.",
      code: `<script async src="${home}embed.js" data-link="${link}"${theme}></script>`,
    },
    {
      name: "A frame",
      why: "For wikis and documentation that allow frames but no scripts.",
      code: `<iframe src="${home}embed.html${query}${link}" title="Plimsoll: does it fit?" width="100%" height="${state.height}" loading="lazy"></iframe>`,
    },
    {
      name: "A custom element",
      why: "Without a frame; the policy of your page must allow 'wasm-unsafe-eval' and this host.",
      code: `<script type="module" src="${home}plimsoll-card.js"></script>\n<plimsoll-card link="${link}"${attributeTheme}></plimsoll-card>`,
    },
    {
      name: "Markdown",
      why: "For places that strip frames: save the picture above beside your text.",
      code: `[![Plimsoll: does it fit?](plimsoll-card.svg)](${home}${state.link})`,
    },
  ];
}

async function take(name: string, code: string): Promise<void> {
  const copied = await copy(code);
  state.told = name;
  state.done = copied ? "Copied." : "The browser did not allow it: select the text and copy it.";
  draw();
}

const pictureAddress = () => `data:image/svg+xml,${encodeURIComponent(state.picture.svg)}`;

async function drawPicture(): Promise<void> {
  const { link } = state;
  const decoded = decode(link);
  if (decoded.kind !== "request" || state.picture.link === link) return;
  // Weighed as the card beside it is.
  const report = await (await loadMore()).weigh(decoded.request);
  if (state.link !== link) return;
  state.picture = { link, svg: report.ok ? svgCard(report, decoded.request) : "" };
  draw();
}

function wrong(): string {
  const decoded = decode(state.link);
  if (decoded.kind === "broken") return decoded.message;
  return decoded.kind === "empty" ? "This is not a link of Plimsoll." : "";
}

function inputs(problem: string): TemplateResult {
  return html`<section class="panel inputs">
    <div class="field">
      <label for="link">Link of the request</label>
      <input
        id="link"
        type="text"
        .value=${state.link}
        aria-invalid=${problem === "" ? "false" : "true"}
        aria-describedby="link-help"
        @input=${(event: Event) => {
          state.link = fragmentOf((event.target as HTMLInputElement).value.trim());
          draw();
        }}
      />
      <p class="help" id="link-help">${problem || "Copy it from the address of the calculator."}</p>
    </div>
    <div class="field">
      <label for="theme">Theme</label>
      <select
        id="theme"
        @change=${(event: Event) => {
          state.theme = (event.target as HTMLSelectElement).value;
          draw();
        }}
      >
        ${["system", "light", "dark"].map(
          (theme) => html`<option ?selected=${theme === state.theme}>${theme}</option>`,
        )}
      </select>
    </div>
  </section>`;
}

const preview = (): TemplateResult =>
  html`<section class="panel builder-frame">
    <h2>What it looks like</h2>
    <iframe
      title="Preview of the card"
      height=${state.height}
      src="../embed.html${state.theme === "system" ? "" : `?theme=${state.theme}`}${state.link}"
    ></iframe>
  </section>`;

function picture(): TemplateResult | typeof nothing {
  if (state.picture.link !== state.link || state.picture.svg === "") return nothing;
  return html`<section class="panel builder-frame">
    <h2>As a picture</h2>
    <p class="caption">
      It stays as it is now; its link leads to the calculator. Save it beside your text and name it in the
      Markdown below.
    </p>
    <img
      src=${pictureAddress()}
      alt="The card as a picture: whether the run fits, and what fills the memory"
    />
    <p class="buttons">
      <a href=${pictureAddress()} download="plimsoll-card.svg">Save the picture, SVG</a>
    </p>
  </section>`;
}

function codePanel({ name, why, code }: Code): TemplateResult {
  const id = `why-${name.replaceAll(" ", "-")}`;
  return html`<section class="panel builder-code">
    <h2>${name}</h2>
    <p class="caption" id=${id}>${why}</p>
    <textarea readonly rows="4" aria-label=${name} aria-describedby=${id} .value=${code}></textarea>
    <p class="buttons">
      <button type="button" @click=${() => void take(name, code)}>Copy</button>
      ${state.told === name ? html`<span role="status">${state.done}</span>` : nothing}
    </p>
  </section>`;
}

const view = (): TemplateResult =>
  html`${inputs(wrong())} ${preview()} ${picture()} ${codes().map(codePanel)}`;

function draw(): void {
  if (place) render(view(), place);
  void drawPicture();
}

window.addEventListener("message", (event) => {
  const frame = place?.querySelector("iframe");
  if (event.origin !== window.location.origin || event.source !== frame?.contentWindow) return;
  const { app, v, height } = Object(event.data) as Record<string, unknown>;
  if (app === "plimsoll" && v === 1 && typeof height === "number" && height !== state.height) {
    state.height = height;
    draw();
  }
});
place?.replaceChildren();
draw();
