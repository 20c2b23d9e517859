// The presets as texts, each fetched once for both modules of the core: what the first answer needs, and the rest.
import firstUrl from "plimsoll-core/first.txt?url";

export async function fetchText(url: string): Promise<string> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return answer.text();
}

/** Asks again after a failure. */
export function once<Result>(fetchIt: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined;
  return () => {
    result ??= fetchIt().catch((error: unknown) => {
      result = undefined;
      throw error;
    });
    return result;
  };
}

/** GPUs, stacks, scenarios, evidence, and the models of the scenarios. */
export const firstPresets = once(() => fetchText(firstUrl));

/** All models, and the clouds. */
export const otherPresets = once(() => import("./other-presets.ts").then((module) => module.fetchOthers()));

const SLICE = 8;
/** After each call the core indexes the names of all models anew. */
const LINES_A_CALL = 16;

/** Lets a key press, a click or a frame pass that is waiting. */
export const pause = () => new Promise<void>((done) => setTimeout(done));

/** Adds many presets, a few milliseconds at a time, so that a key pressed meanwhile does not wait. */
export async function addAll(text: string, add: (text: string) => string): Promise<void> {
  let since = performance.now();
  const lines = text.split("\n");
  for (let from = 0; from < lines.length; from += LINES_A_CALL) {
    const problem = add(lines.slice(from, from + LINES_A_CALL).join("\n"));
    if (problem !== "") throw new Error(problem);
    if (performance.now() - since < SLICE) continue;
    await pause();
    since = performance.now();
  }
}
