// Before anything is painted: the colours that were chosen last time (src/theme.ts), and whether the answer that stands in the
// page (web/first-answer.ts) is the one that will be shown. It is not for a link to another run, nor in another language or unit.
// And the thread of the core is started, whose loading takes longest (src/first-thread.ts). Old browsers read this file too: no
// syntax younger than that of modules.
(function () {
  const { thread } = document.currentScript.dataset;
  const root = document.documentElement;
  const remembered = (key) => {
    try {
      return window.localStorage.getItem(key);
    } catch (blocked) {
      return null;
    }
  };
  const theme = remembered("plimsoll-theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  const english = (remembered("plimsoll-language") || navigator.language.slice(0, 2)) !== "de";
  const binary = remembered("plimsoll-unit") !== "GB";
  if (english && binary && /^#?(?:tab=\w*)?$/.test(window.location.hash)) root.dataset.first = "";
  // Of a browser that is too old, and of files that are missing because an update was cut off, the page would say nothing.
  const tell = (words) => {
    const first = document.getElementById("first");
    const loading = document.getElementById("loading");
    if (!loading) return document.addEventListener("DOMContentLoaded", () => tell(words), { once: true });
    if (first) first.remove();
    loading.textContent = words;
  };
  const needs = "Plimsoll needs WebAssembly and a browser as new as Chrome 108, Firefox 114 or Safari 16.4.";
  if (!("noModule" in document.currentScript) || !window.WebAssembly) tell(needs);
  // What is told is taken back by an application that starts all the same.
  window.addEventListener(
    "error",
    ({ target, message }) => {
      const starting = document.readyState === "loading" || document.getElementById("loading");
      if (target && target.type === "module" && target.tagName === "SCRIPT")
        tell("A part of the page is missing, perhaps while it is updated. Reload it.");
      else if (target === window && starting) tell(`The page cannot start: ${message}. ${needs}`);
    },
    true,
  );
  if (!thread) return;
  try {
    window.plimsollThread = new Worker(thread, { type: "module" });
    window.plimsollThread.onerror = () => (window.plimsollThread = undefined);
  } catch (foreign) {
    // a frame with an origin of its own
  }
})();
