// The page's side of the second module: starts its thread, hands it one call after another, and gives back what it says.
import type { More } from "./more.ts";
import { queue, type Call } from "./queue.ts";

/** What the thread is asked, one at a time, and what it says; `id` is 0 for its loading. */
export type Asked = { id: number } & Call;
export type Said = { id: number; value?: unknown; problem?: string };

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
  models: { first: true },
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
  const waiting = new Map<number, { done: (value: unknown) => void; failed: (error: Error) => void }>();
  const said = (id: number) =>
    new Promise<unknown>((done, failed) => {
      waiting.set(id, { done, failed });
    });
  worker.addEventListener("message", ({ data }: MessageEvent<Said>) => {
    const one = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.problem === undefined) one?.done(data.value);
    else one?.failed(new Error(data.problem));
  });
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    const error = new Error(event.message || "its thread could not be started");
    for (const { failed } of waiting.values()) failed(error);
    waiting.clear();
  });
  let last = 0;
  try {
    await said(0);
  } catch (error) {
    worker.terminate();
    throw error;
  }
  const ask = queue((call) => {
    const asked: Asked = { id: ++last, ...call };
    worker.postMessage(asked);
    return said(asked.id);
  });
  const calls = Object.entries(NAMES).map(([name, how]) => [
    name,
    (...values: unknown[]) => ask({ name, values }, how),
  ]);
  return Object.fromEntries(calls) as More;
}
