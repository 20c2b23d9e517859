// The builder of embedded cards: a link and a theme in, the code and what it looks like out.
import "./page.ts";
import { html, render, type TemplateResult } from "lit";
import { loadCore } from "../core.ts";
import { decode, encode } from "../link.ts";
import { svgCard } from "../share/svg-card.ts";

const place = document.getElementById("builder");
const core = await loadCore();
await core.complete();
const home = new URL("../", window.location.href).href;
const first = core.scenarios.find((scenario) => scenario.id === "d-after") ?? core.scenarios[0];
const state = {
  link: window.location.hash.length > 1 ? window.location.hash : encode(first?.request ?? {}),
  theme: "system",
  height: 230,
};

/** The fragment of whatever was pasted: a whole address, or the fragment alone. */
const fragmentOf = (text: string) => (text.includes("#") ? text.slice(text.indexOf("#")) : text);
const attribute = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

function codes(): { name: string; why: string; code: string }[] {
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
      why: "For places that strip frames: save the picture below beside your text.",
      code: `[![Plimsoll: does it fit?](plimsoll-card.svg)](${home}${state.link})`,
    },
  ];
}

function savePicture(): void {
  const decoded = decode(state.link);
  if (decoded.kind !== "request") return;
  const report = core.report(JSON.stringify(decoded.request));
  if (!report.ok) return;
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(new Blob([svgCard(report, decoded.request)], { type: "image/svg+xml" }));
  anchor.download = "plimsoll-card.svg";
  anchor.click();
  window.setTimeout(() => URL.revokeObjectURL(anchor.href), 1000);
}

function view(): TemplateResult {
  const decoded = decode(state.link);
  const wrong =
    decoded.kind === "broken"
      ? decoded.message
      : decoded.kind === "empty"
        ? "This is not a link of Plimsoll."
        : "";
  return html`
    <section class="panel">
      <div class="field">
        <label for="link">Link of the request</label>
        <input
          id="link"
          type="text"
          .value=${state.link}
          aria-invalid=${wrong === "" ? "false" : "true"}
          aria-describedby="link-help"
          @input=${(event: Event) => {
            state.link = fragmentOf((event.target as HTMLInputElement).value.trim());
            draw();
          }}
        />
        <p class="help" id="link-help">${wrong || "Copy it from the address of the calculator."}</p>
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
    </section>
    <section class="panel builder-frame">
      <h2>What it looks like</h2>
      <iframe
        title="Preview of the card"
        height=${state.height}
        src="../embed.html${state.theme === "system" ? "" : `?theme=${state.theme}`}${state.link}"
      ></iframe>
      <button type="button" @click=${savePicture}>Save the picture, SVG</button>
    </section>
    ${codes().map(
      ({ name, why, code }) =>
        html`<section class="panel builder-code">
          <h2>${name}</h2>
          <p class="caption" id="why-${name.replaceAll(" ", "-")}">${why}</p>
          <textarea
            readonly
            rows="4"
            aria-label=${name}
            aria-describedby="why-${name.replaceAll(" ", "-")}"
            .value=${code}
          ></textarea>
        </section>`,
    )}
  `;
}

function draw(): void {
  if (place) render(view(), place);
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
