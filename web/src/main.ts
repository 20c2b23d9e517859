import "./styles/tokens.css";
import "./styles/page.css";
import "./styles/panel.css";
import "./styles/form.css";
import "./styles/answer.css";
import "virtual:colours.css";
import { PlimsollApp } from "./app.ts";
import { loadCoreAside } from "./first-thread.ts";
import type { Difference } from "./opening.ts";
import { asUnit, measureIn, UNIT_KEY } from "./format.ts";
import { asTheme, remembered, wear } from "./theme.ts";
import { LANGUAGE_KEY, ownLanguage, speak } from "./words/say.ts";

wear(asTheme(remembered()));
measureIn(asUnit(remembered(UNIT_KEY)));
const loading = document.getElementById("loading");
/** The opening case as the site was built with it; the same page, alive, takes its place. */
const first = document.getElementById("first");
/** The frame that shows it, before the work that takes its place; a page in the background has no frames. */
const shown = new Promise<void>((done) => {
  if (document.visibilityState === "hidden") done();
  else requestAnimationFrame(() => setTimeout(done));
});
try {
  const [core] = await Promise.all([
    loadCoreAside(),
    speak(remembered(LANGUAGE_KEY) ?? ownLanguage()),
    shown,
  ]);
  const app = document.querySelector<PlimsollApp>("plimsoll-app");
  await app?.start(core, JSON.parse(first?.dataset["beyond"] ?? "[]") as Difference);
  first?.remove();
  loading?.remove();
  app?.removeAttribute("hidden");
} catch (error) {
  first?.remove();
  if (loading) {
    loading.textContent = `The calculator could not be loaded (${error instanceof Error ? error.message : String(error)}). Reload the page to try again.`;
  }
  // What is stored of the site may be what is damaged: the next visit fetches it anew.
  if ("caches" in window) for (const key of await caches.keys()) await caches.delete(key);
}
