// The page that the site opens with, written into index.html when the site is built: the report on the opening case is the
// core's own, asked of the module that the site ships, and drawn by the page's own templates. So the answer is on the screen
// as soon as the style sheets are; the living page takes its place without a jump. What is folded away is left out.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Plugin } from "vite";
import type { More } from "../wasm/more.d.ts";
import type { Options, Plimsoll } from "../wasm/plimsoll.d.ts";
import { colourSheet } from "./src/colours.ts";
import type { Json, Report } from "./src/contract.ts";
import type { Core } from "./src/core.ts";
import { listsOf } from "./src/lists.ts";
import { difference } from "./src/opening.ts";
import { page, STAGES } from "./src/page.ts";
import { FIRST_SCENARIO } from "./src/scenarios.ts";
import { firstView, type Actions } from "./src/view.ts";
import { staticHtml } from "./static-html.ts";

const PLACE = "><!-- first answer -->";

async function openModule<Module extends Pick<Plimsoll, "add_presets">>(
  folder: string,
  name: string,
): Promise<Module> {
  const { default: create } = (await import(pathToFileURL(`${folder}/${name}.js`).href)) as {
    default: (options: Options) => Promise<Module>;
  };
  const plimsoll = await create({ wasmBinary: readFileSync(`${folder}/${name}.wasm`) });
  const problem = plimsoll.add_presets(readFileSync(`${folder}/first.txt`, "utf8"));
  if (problem !== "") throw new Error(problem);
  return plimsoll;
}

/**
 * Folds that are closed keep their headings, choices the one that is chosen. Nothing is named: the names are those of the living
 * page, which is drawn while this stands.
 */
const inSight = (html: string) =>
  html
    .replace(
      /(<details(?![^>]* open)[^>]*>\s*<summary>(?:(?!<\/summary>).)*<\/summary>)(?:(?!<\/details>).)*/gs,
      "$1",
    )
    .replace(/<option(?![^>]* selected)[^>]*>[^<]*<\/option>/g, "")
    .replace(/ (?:id|for|list|name|aria-labelledby|aria-describedby)="[^"]*"/g, "")
    .replace(/<!--.*?-->/gs, "");

/** The rest of the tag that holds it, and the page in it. */
export async function firstAnswer(folder: string): Promise<string> {
  const plimsoll = await openModule<Plimsoll>(folder, "plimsoll");
  const more = await openModule<More>(folder, "plimsoll_more");
  const lists = await listsOf(plimsoll, () => Promise.resolve());
  const origin = lists.scenarios.find(({ id }) => id === FIRST_SCENARIO);
  if (!origin) throw new Error(`There is no scenario ${FIRST_SCENARIO}.`);
  const asked = JSON.stringify(origin.request);
  const whole = more.report(asked);
  const report = JSON.parse(whole) as Report;
  const peak = report.memory.instants.findIndex(({ id }) => id === report.memory.peak.instant);
  const beyond = difference(JSON.parse(plimsoll.quick_report(asked)) as Json, JSON.parse(whole) as Json)
    // What is behind tabs has time: the whole report is there when one is opened.
    .filter(
      ([at]) =>
        !/^\/(?:memory\/instants\/\d+|tiers\/\d+\/headroom$)/.test(at) ||
        at.startsWith(`/memory/instants/${peak}/`),
    );
  const view = { ...firstView(lists as Core, "system"), request: origin.request, origin, report };
  // Nothing is drawn that could ask anything of them.
  const drawn = page(view, {} as Actions, { announcement: "", verdictInSight: true, drawn: STAGES });
  const attribute = JSON.stringify(beyond).replaceAll("&", "&amp;").replaceAll("'", "&#39;");
  return ` data-beyond='${attribute}'>${inSight(staticHtml(drawn))}`;
}

const COLOURS = "virtual:colours.css";

/** The colours of the components, for a page that no script has run on yet. */
export const colours: Plugin = {
  name: "colours",
  resolveId: (id) => (id === COLOURS ? `\0${id}` : undefined),
  load: (id) => (id === `\0${COLOURS}` ? colourSheet() : undefined),
};

/** `folder`: the modules. */
export const firstAnswerIn = (folder: string): Plugin => ({
  name: "first-answer",
  transformIndexHtml: async (html) =>
    html.includes(PLACE) ? html.split(PLACE).join(await firstAnswer(folder)) : html,
});
