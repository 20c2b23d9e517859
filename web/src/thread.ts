// The page's side of a thread: hands it messages, and gives each answer to whoever asked.
//
//     const { begun, ask, end } = await startThread(new Worker(new URL("./more-worker.ts", import.meta.url), { type: "module" }));
//     const answer = await ask({ name: "advise", values: [request] });
//
// To { id: 0 } the thread says { id: 0, value: begun } once it is ready, and to what it is asked { id, value } or { id, problem }.
export interface Said {
  id: number;
  value?: unknown;
  problem?: string;
}

export interface Thread {
  /** What it said when it was ready. */
  begun: unknown;
  ask(question: object): Promise<unknown>;
  /** Once nobody waits for an answer. */
  idle(): Promise<void>;
  end(): void;
}

export async function startThread(worker: Worker): Promise<Thread> {
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
  const open = new Set<Promise<unknown>>();
  try {
    worker.postMessage({ id: 0 });
    const begun = await said(0);
    return {
      begun,
      ask(question) {
        worker.postMessage({ ...question, id: ++last });
        const answer = said(last);
        const gone = () => open.delete(answer);
        open.add(answer);
        answer.then(gone, gone);
        return answer;
      },
      async idle() {
        while (open.size > 0) await Promise.allSettled(open);
      },
      end: () => worker.terminate(),
    };
  } catch (error) {
    worker.terminate();
    throw error;
  }
}

/** The thread's side: `begin` gives what it says when it is ready, and what performs a question. */
export function serve<Asked extends { id: number }>(
  begin: () => Promise<{ begun?: unknown; perform: (asked: Asked) => Promise<unknown> }>,
): void {
  const begins = begin();
  // Said to whoever asks, who may ask later.
  begins.catch(() => undefined);
  self.addEventListener("message", ({ data }: MessageEvent<Asked>) => {
    begins
      .then(({ begun, perform }) => (data.id === 0 ? begun : perform(data)))
      .then(
        (value) => self.postMessage({ id: data.id, value } satisfies Said),
        (error: unknown) => {
          const problem = error instanceof Error ? error.message : String(error);
          self.postMessage({ id: data.id, problem } satisfies Said);
        },
      );
  });
}
