// The thread of the second module: loads it, then answers one call after another (web/src/more-thread.ts is the other side).
import { load } from "./more-module.ts";
import type { Asked, Said } from "./more-thread.ts";
import type { More } from "./more.ts";

const say = (said: Said): void => self.postMessage(said);
const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function perform(more: More, { id, name, values }: Asked): Promise<Said> {
  try {
    const call = more[name as keyof More] as (...values: unknown[]) => Promise<unknown>;
    return { id, value: await call(...values) };
  } catch (error) {
    return { id, problem: words(error) };
  }
}

// Not awaited here: what is fetched on demand may import parts that were bundled with this file.
load().then(
  (more) => {
    self.addEventListener("message", ({ data }: MessageEvent<Asked>) => void perform(more, data).then(say));
    say({ id: 0 });
  },
  (error: unknown) => say({ id: 0, problem: words(error) }),
);
