// One tag puts a card into a page:
//
//   <script async src="https://example.org/plimsoll/embed.js" data-link="#v=1&amp;model=..."></script>
//
// data-link    the fragment of a Plimsoll address
// data-theme   light, dark or system
// data-title   the frame's name for screen readers
// data-height  pixels until the card has said its own height
(function () {
  "use strict";
  const script = document.currentScript;
  if (!(script instanceof HTMLScriptElement)) return;
  const known = ["link", "theme", "title", "height"];
  for (const key of Object.keys(script.dataset)) {
    if (!known.includes(key))
      console.info(
        `plimsoll: data-${key} is not known; known are ${known.map((k) => `data-${k}`).join(", ")}.`,
      );
  }
  const address = new URL("embed.html", script.src);
  if (script.dataset.theme) address.searchParams.set("theme", script.dataset.theme);
  address.hash = script.dataset.link ?? "";

  const frame = document.createElement("iframe");
  frame.src = address.href;
  frame.title = script.dataset.title ?? "Plimsoll: does it fit on this GPU?";
  frame.loading = "lazy";
  frame.width = "100%";
  frame.height = String(Number.parseInt(script.dataset.height ?? "", 10) || 240);
  frame.setAttribute("frameborder", "0");
  script.insertAdjacentElement("afterend", frame);

  window.addEventListener("message", (event) => {
    if (event.origin !== address.origin || event.source !== frame.contentWindow) return;
    const { app, v, type, height } = Object(event.data);
    if (app !== "plimsoll" || v !== 1 || (type !== "ready" && type !== "resize")) return;
    if (Number.isInteger(height) && height > 0 && height < 10000) frame.height = String(height);
  });
})();
