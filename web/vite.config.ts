// The page is built from web/ and the wasm module of the core into static files that any host can serve from any
// path. PLIMSOLL_WASM and PLIMSOLL_SITE move the two folders for builds outside the checkout.
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const web = dirname(fileURLToPath(import.meta.url));
const root = dirname(web);
const wasm = resolve(root, process.env["PLIMSOLL_WASM"] ?? "build/wasm");
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
    resolve: { alias: { "plimsoll-core": wasm } },
    build: {
      outDir: site,
      emptyOutDir: true,
      target: ["chrome108", "firefox113", "safari16.4"],
      // Nothing inline: the page's policy allows no data: script or style, and hashed files cache better.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: true,
    },
  };
});
