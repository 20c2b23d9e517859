// The core for the page: the first module works in a thread of its own until the first answer is on the screen, so that nothing waits
// for its compilation; then the page opens an instance beside it, which answers a key press in the same frame, and ends the thread.
import type { Core } from "./core.ts";
import type { ModelPreset, Refusal, Report } from "./contract.ts";
import { isPlain, listed, standingIn, usualIn, type Lists } from "./lists.ts";
import type { Here } from "./first-here.ts";
import { loadMore } from "./more.ts";
import { once } from "./presets.ts";
import { startThread } from "./thread.ts";

/** What the thread says when it is ready. */
export interface Begun {
  lists: Lists;
  module: WebAssembly.Module;
  /** The text that the instance of the page takes. */
  presets: string;
}

/** A request as text, for its report or for what is usual; or, without one, that the presets of the other models be added. */
export type FirstAsked = { id: number; report?: string; usual?: string };

declare global {
  interface Window {
    /** The thread, where public/early.js has been able to start it while the page was being read. */
    plimsollThread?: Worker;
  }
}

/** A frame with an origin of its own may not start a thread of this site: the module then works in the page. */
export async function loadCoreAside(): Promise<Core> {
  try {
    return await inThread();
  } catch {
    return (await import("./core.ts")).loadCore();
  }
}

async function inThread(): Promise<Core> {
  const early = window.plimsollThread;
  const thread = await startThread(
    early ?? new Worker(new URL("./first-worker.ts", import.meta.url), { type: "module" }),
  );
  const begun = thread.begun as Begun;
  let own = begun.lists.models;
  let extended = false;
  let whole = false;
  /** The instance of the page, once it is there. */
  let here: Pick<Here, "report" | "usual"> | undefined;
  const extend = once(async () => {
    own = (await thread.ask({})) as ModelPreset[];
    extended = true;
    if (!whole) core.models = own;
  });
  const core: Core = {
    ...begun.lists,
    knows: (request) => here !== undefined && listed(own, request),
    soon: (request) => listed(own, request),
    report: (request) => JSON.parse(here?.report(request) ?? "") as Report | Refusal,
    async answer(request, text) {
      if (!whole && !here && isPlain(request) && !listed(own, request)) await extend();
      if (!listed(own, request)) return (await loadMore()).answer(text);
      return here
        ? core.report(text)
        : (JSON.parse((await thread.ask({ report: text })) as string) as Report | Refusal);
    },
    usual(request) {
      const asked = standingIn(own, core.models, request);
      if (!asked) return loadMore().then((more) => more.usual(request));
      const usual = JSON.stringify(asked);
      if (here) return usualIn(here.usual(usual));
      return thread.ask({ usual }).then((text) => usualIn(text as string));
    },
    async complete() {
      const { openHere } = await import("./first-here.ts");
      const opened = await openHere(begun);
      // What the thread has been asked is answered, and what it has been given is here too.
      await thread.idle();
      while (extended && !opened.extended()) {
        await opened.extend();
        await thread.idle();
      }
      here = opened;
      thread.end();
      const more = await loadMore();
      core.models = await more.models();
      whole = true;
    },
  };
  return core;
}
