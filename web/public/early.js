// Before anything is painted: the colours that were chosen last time (src/theme.ts), and whether the answer that stands in the
// page (web/first-answer.ts) is the one that will be shown. It is not for a link to another run, nor in another language or unit.
// And the thread of the core is started, whose loading takes longest (src/first-thread.ts).
(function () {
  const { thread } = document.currentScript.dataset;
  const root = document.documentElement;
  const remembered = (key) => {
    try {
      return window.localStorage.getItem(key);
    } catch {
      return null; // blocked
    }
  };
  const theme = remembered("plimsoll-theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  const english = (remembered("plimsoll-language") || navigator.language.slice(0, 2)) !== "de";
  const binary = remembered("plimsoll-unit") !== "GB";
  if (english && binary && /^#?(?:tab=\w*)?$/.test(window.location.hash)) root.dataset.first = "";
  if (!thread) return;
  try {
    window.plimsollThread = new Worker(thread, { type: "module" });
    window.plimsollThread.onerror = () => (window.plimsollThread = undefined);
  } catch {
    // a frame with an origin of its own
  }
})();
