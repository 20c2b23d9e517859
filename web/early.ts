// What makes the first answer come early, where a bundler would not do so by itself.
import type { Plugin } from "vite";

const PLACE = 'data-thread=""';

/** Tells public/early.js where the thread of the core is, so that it starts before any module has been fetched. */
export const threadEarly: Plugin = {
  name: "thread-early",
  apply: "build",
  transformIndexHtml: {
    order: "post",
    handler(html, { bundle }) {
      if (!html.includes(PLACE)) return html;
      const file = Object.keys(bundle ?? {}).find((name) => /\/first-worker-[^/]*\.js$/.test(name));
      if (!file) throw new Error("The thread of the core is not in the bundle.");
      return html.replace(PLACE, `data-thread="./${file}"`);
    },
  },
};

/** What the first view shares with cards and other pages: one file in place of ten, each of which would be another request. */
const SHARED =
  /\/node_modules\/(?:@?lit[^/]*|d3-array)\/|\/src\/(?:bar|colours|format|headline|link|lists|made|more|names|open|peak|pointer|presets|theme|thread|words\/(?:en|say))\.ts$/;

/** Directives that only the parts below need come with those. */
const LATER = /\/directives\/(?!live)|\/d3-array\/src\/(?!ticks)/;

export const firstChunk = (id: string): string | undefined =>
  SHARED.test(id) && !LATER.test(id) ? "shared" : undefined;
