// The page is built from web/ and the wasm module of the core into static files that any host can serve from any
// path; PLIMSOLL_ADDRESS says which it will be (address.ts). PLIMSOLL_WASM and PLIMSOLL_SITE move the two folders for builds outside the checkout.
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { VitePWA } from "vite-plugin-pwa";
import { addressOf } from "./address.ts";
import { docsFrame } from "./docs-frame.ts";
import { firstChunk, threadEarly } from "./early.ts";
import { colours, firstAnswerIn } from "./first-answer.ts";

const web = dirname(fileURLToPath(import.meta.url));
const root = dirname(web);
const wasm = resolve(root, process.env["PLIMSOLL_WASM"] ?? "build/wasm");
// accuracy.jsonl: what plimsoll_accuracy --each says of tests/measured/runs.json.
const accuracy = resolve(root, process.env["PLIMSOLL_ACCURACY"] ?? "build");
const site = resolve(root, process.env["PLIMSOLL_SITE"] ?? "build/site");

export default defineConfig(({ command, isPreview }) => {
  if (command === "build" && !existsSync(`${wasm}/plimsoll.js`)) {
    throw new Error(`${wasm}/plimsoll.js is missing. Build the core first: ./dev build does both.`);
  }
  if (isPreview && !existsSync(`${site}/index.html`)) {
    throw new Error(`${site}/index.html is missing. Build the page first: ./dev build, or npm run build.`);
  }
  return {
    root: web,
    base: "./",
    appType: "mpa",
    resolve: {
      alias: {
        "plimsoll-core": wasm,
        "plimsoll-accuracy": accuracy,
        "plimsoll-measured": resolve(root, "tests/measured"),
      },
    },
    // As GitHub Pages does: the card of another page, and a sandboxed frame, fetch from an origin of their own.
    preview: { cors: { origin: "*" } },
    // The thread of the second module is a module too, and fetches its YAML parser when it needs it.
    worker: { format: "es" },
    build: {
      outDir: site,
      emptyOutDir: true,
      target: ["chrome108", "firefox114", "safari16.4"],
      // Nothing inline: the page's policy allows no data: script or style, and hashed files cache better.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: true,
      rollupOptions: {
        input: {
          index: resolve(web, "index.html"),
          embed: resolve(web, "embed.html"),
          "docs-method": resolve(web, "docs/method.html"),
          "docs-accuracy": resolve(web, "docs/accuracy.html"),
          "docs-glossary": resolve(web, "docs/glossary.html"),
          "docs-embed": resolve(web, "docs/embed.html"),
          "docs-changes": resolve(web, "docs/changes.html"),
          "plimsoll-card": resolve(web, "src/embed/element.ts"),
        },
        output: {
          // Other pages import the custom element by this name; it brings its hashed parts itself.
          manualChunks: firstChunk,
          entryFileNames: ({ name }) => (name === "plimsoll-card" ? "[name].js" : "assets/[name]-[hash].js"),
        },
      },
    },
    plugins: [
      docsFrame,
      colours,
      firstAnswerIn(wasm),
      threadEarly,
      addressOf(process.env["PLIMSOLL_ADDRESS"]),
      VitePWA({
        injectRegister: false,
        registerType: "prompt",
        filename: "sw.js",
        // Relative, so that the site works under any path.
        base: "./",
        scope: "./",
        workbox: {
          cacheId: "plimsoll",
          // Only programs that show links ask for it.
          globIgnores: ["preview.png"],
          globPatterns: ["**/*.{html,js,css,wasm,svg,png,json,jsonl,txt,webmanifest}"],
          navigateFallback: null,
          ignoreURLParametersMatching: [/.*/],
          cleanupOutdatedCaches: true,
          inlineWorkboxRuntime: true,
          maximumFileSizeToCacheInBytes: 8 * 2 ** 20,
          sourcemap: false,
        },
        // public/manifest.webmanifest: the pages below docs/ would be given a wrong path to one made here.
        manifest: false,
      }),
    ],
  };
});
