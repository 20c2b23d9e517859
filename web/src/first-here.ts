// The page's own instance of the first module, opened while nobody waits for it.
import createPlimsoll from "plimsoll-core/plimsoll.js";
import type { Begun } from "./first-thread.ts";
import { open } from "./open.ts";
import { addAll, otherPresets, pause } from "./presets.ts";

export interface Here {
  report(request: string): string;
  usual(request: string): string;
  /** Adds the presets of the other models. */
  extend(): Promise<void>;
  extended(): boolean;
}

export async function openHere({ module, presets }: Begun): Promise<Here> {
  const plimsoll = await open(createPlimsoll, module);
  const add = (lines: string) => plimsoll.add_presets(lines);
  await addAll(presets, add);
  let rich = false;
  return {
    report: (request) => plimsoll.quick_report(request),
    usual: (request) => plimsoll.usual(request),
    extended: () => rich,
    async extend() {
      if (!rich) await addAll(await otherPresets(), add);
      rich = true;
      await pause();
    },
  };
}
