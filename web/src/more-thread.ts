// The page's side of the second module: starts its thread, hands it one call after another, and gives back what it says.
import type { More } from "./more.ts";
import { queue, type Call } from "./queue.ts";
import { startThread } from "./thread.ts";

/** What the thread is asked, one at a time. */
export type Asked = { id: number } & Call;

/** Calls that a later one of the same name makes pointless are dropped while they wait; what people wait for comes first. */
const NAMES: Record<keyof More, { first?: true; supersedes?: true }> = {
  answer: { first: true, supersedes: true },
  read: { first: true },
  diagnose: { first: true, supersedes: true },
  patch: { supersedes: true },
  report: { supersedes: true },
  advise: { supersedes: true },
  compare: { supersedes: true },
  formats: {},
  exportAs: { supersedes: true },
  weigh: {},
  models: { first: true },
  usual: { first: true },
};

/**
 * A frame with an origin of its own, and a card on somebody else's page, may not start a thread of this site: the module then
 * works in theirs. When the thread could not fetch something, neither will this, and says what.
 */
export async function load(): Promise<More> {
  try {
    return await inThread();
  } catch {
    return (await import("./more-module.ts")).load();
  }
}

async function inThread(): Promise<More> {
  const worker = new Worker(new URL("./more-worker.ts", import.meta.url), { type: "module" });
  const thread = await startThread(worker);
  const ask = queue((call) => thread.ask(call));
  const calls = Object.entries(NAMES).map(([name, how]) => [
    name,
    (...values: unknown[]) => ask({ name, values }, how),
  ]);
  return Object.fromEntries(calls) as More;
}
