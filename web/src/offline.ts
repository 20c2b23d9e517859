// The page works without a network after the first visit. A newer version waits until the person agrees, so that old
// and new files never meet: the whole site is one precache list made at build time. Whoever agrees in one tab agrees for all:
// the old files are gone then, so every tab reloads, and finds its request in its address.
//
//     keepOffline({ fetched: () => ..., waiting: (use) => ... });
export interface Offline {
  /** Everything is stored for the first time. */
  fetched(): void;
  /** A newer version is stored; `use` changes to it and reloads. */
  waiting(use: () => void): void;
}

export async function keepOffline(tell: Offline): Promise<void> {
  // "?no-sw" is the way out for somebody whom a stored version troubles.
  if (!("serviceWorker" in navigator) || new URL(window.location.href).searchParams.has("no-sw")) return;
  const { Workbox } = await import("workbox-window");
  const worker = new Workbox("./sw.js", { updateViaCache: "none" });
  worker.addEventListener("activated", (event) => {
    if (!event.isUpdate) tell.fetched();
  });
  worker.addEventListener("controlling", () => window.location.reload());
  worker.addEventListener("waiting", () => {
    tell.waiting(() => worker.messageSkipWaiting());
  });
  await worker.register().catch(() => undefined);
}
