// The core, loaded once. Everything the page knows comes through here.
//
//     const core = await loadCore();
//     const text = '{"model": "mistral-7b-v0.3"}';
//     const answer = core.knows(request) ? core.report(text) : await core.answer(request, text);
//     if (answer.ok) show(answer.memory.peak); else show(answer.errors);
//
// The first module answers at once, with the models that have been added to it; what takes longer is asked of the second, in a
// thread of its own.
import createPlimsoll from "plimsoll-core/plimsoll.js";
import wasmUrl from "plimsoll-core/plimsoll.wasm?url";
import type { Refusal, Report, Request, Usual } from "./contract.ts";
import { isPlain, listed, listsOf, modelsOf, standingIn, usualIn, type Lists } from "./lists.ts";
import { loadMore } from "./more.ts";
import { compile, open } from "./open.ts";
import { addAll, firstPresets, once, otherPresets, pause } from "./presets.ts";

export interface Core extends Lists {
  /** Whether the first module can answer at once: it can for models that it lists. */
  knows(request: Request): boolean;
  /** Whether nothing need be fetched for the answer. */
  soon(request: Request): boolean;
  /** Takes the text of a request that it knows, so that the core also sees what JSON.parse would hide: duplicate keys. */
  report(request: string): Report | Refusal;
  /** The same for any request, fetching what that needs. Fails when it cannot be fetched, and may then be asked again. */
  answer(request: Request, text: string): Promise<Report | Refusal>;
  /** What nobody trains without and a request leaves open: at once where the first module is at hand and knows the model. */
  usual(request: Request): Usual[] | Promise<Usual[]>;
  /** Fetches all that there is. */
  complete(): Promise<void>;
}

export async function loadCore(): Promise<Core> {
  const [plimsoll, presets] = await Promise.all([
    compile(wasmUrl).then((module) => open(createPlimsoll, module)),
    firstPresets(),
  ]);
  await addAll(presets, (lines) => plimsoll.add_presets(lines));
  const lists = await listsOf(plimsoll, pause);
  let own = lists.models;
  let whole = false;
  const extend = once(async () => {
    await addAll(await otherPresets(), (lines) => plimsoll.add_presets(lines));
    own = modelsOf(plimsoll);
    if (!whole) core.models = own;
  });
  const core: Core = {
    ...lists,
    knows: (request) => listed(own, request),
    soon: (request) => core.knows(request),
    report: (request) => JSON.parse(plimsoll.quick_report(request)) as Report | Refusal,
    async answer(request, text) {
      if (!whole && isPlain(request) && !core.knows(request)) await extend();
      return core.knows(request) ? core.report(text) : (await loadMore()).answer(text);
    },
    usual(request) {
      const asked = standingIn(own, core.models, request);
      return asked
        ? usualIn(plimsoll.usual(JSON.stringify(asked)))
        : loadMore().then((more) => more.usual(request));
    },
    async complete() {
      const more = await loadMore();
      core.models = await more.models();
      whole = true;
    },
  };
  return core;
}
