// embed.html: one card, as high as it needs to be. Works with storage blocked and registers no service worker.
import "../styles/tokens.css";
import "../styles/card.css";
import { render } from "lit";
import { adoptColours } from "../colours.ts";
import { loadCore, type Core } from "../core.ts";
import { asTheme, wear } from "../theme.ts";
import { card, prepare } from "./card.ts";
import { APP, readMessage, VERSION } from "./messages.ts";

const home = new URL("./", window.location.href).href;
const body = document.getElementById("card");
let fragment = window.location.hash;
let told = 0;

// Only a height is told, and to whoever holds the frame: nothing in it is secret.
const tell = (type: "ready" | "resize", height: number) =>
  window.parent.postMessage({ app: APP, v: VERSION, type, height }, "*");

async function draw(core: Core, whole: boolean): Promise<void> {
  const drawn = fragment;
  const prepared = await prepare(core, drawn, whole);
  // A later link may have been answered sooner.
  if (body && drawn === fragment) render(card(prepared, drawn, home), body);
}

// Where the second module cannot be had, the quick answer stays.
const refine = (core: Core) => draw(core, true).catch(() => undefined);
const redraw = (core: Core) => void draw(core, false).then(() => refine(core));

wear(asTheme(new URL(window.location.href).searchParams.get("theme")));
adoptColours(document);
// In somebody's page the main part is theirs.
if (window.parent === window) body?.setAttribute("role", "main");
if (body) {
  try {
    const core = await loadCore();
    await draw(core, false);
    const height = () => Math.ceil(body.getBoundingClientRect().height);
    tell("ready", (told = height()));
    new ResizeObserver(() => {
      // A change below two pixels may be the answer to the last one.
      if (Math.abs(height() - told) >= 2) tell("resize", (told = height()));
    }).observe(body);
    window.addEventListener("hashchange", () => {
      fragment = window.location.hash;
      redraw(core);
    });
    window.addEventListener("message", (event) => {
      if (event.source !== window.parent) return;
      const message = readMessage(event.data);
      if (message?.type === "theme") wear(asTheme(message.theme));
      if (message?.type === "link") {
        fragment = message.link;
        redraw(core);
      }
    });
    void refine(core);
  } catch (error) {
    body.textContent = `The calculator could not be loaded (${error instanceof Error ? error.message : String(error)}).`;
    tell("ready", Math.ceil(body.getBoundingClientRect().height));
  }
}
