// What all pages below docs/ share, put in when the site is built: the policy, and the way to the other pages.
import type { Plugin } from "vite";

const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'";

const HEAD = `<meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
    <meta name="referrer" content="no-referrer" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <link rel="icon" href="../plimsoll.svg" type="image/svg+xml" />`;

const PAGES = [
  ["method", "How it works"],
  ["accuracy", "Accuracy"],
  ["glossary", "Glossary"],
  ["embed", "Embed"],
  ["changes", "Changes"],
];

const MASTHEAD = `<header class="masthead">
      <p class="mast"><a href="../index.html">Plimsoll</a></p>
      <nav aria-label="About Plimsoll">
        <ul class="pages">
          ${PAGES.map(([file, name]) => `<li><a href="./${file}.html">${name}</a></li>`).join("\n          ")}
        </ul>
      </nav>
    </header>`;

export const docsFrame: Plugin = {
  name: "docs-frame",
  transformIndexHtml: {
    order: "pre",
    handler: (html) =>
      html.replace("<!-- frame: head -->", HEAD).replace("<!-- frame: masthead -->", MASTHEAD),
  },
};
