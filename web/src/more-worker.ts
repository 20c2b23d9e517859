// The thread of the second module: loads it, then answers one call after another (web/src/more-thread.ts is the other side).
import { load } from "./more-module.ts";
import type { Asked } from "./more-thread.ts";
import type { More } from "./more.ts";
import { serve } from "./thread.ts";

// Not awaited here: what is fetched on demand may import parts that were bundled with this file.
serve(async () => {
  const more = await load();
  const perform = ({ name, values }: Asked): Promise<unknown> => {
    const call = more[name as keyof More] as (...values: unknown[]) => Promise<unknown>;
    return call(...values);
  };
  return { perform };
});
