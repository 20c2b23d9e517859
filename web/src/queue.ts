// Calls to one who can do only one thing at a time. The rest wait here, where a call that a later one makes pointless can be
// dropped and an urgent one can pass.
//
//     const ask = queue((call) => send(call));
//     const plans = await ask({ name: "advise", values: [request] }, { supersedes: true });
export interface Call {
  name: string;
  values: unknown[];
}

export interface How {
  /** Passes all that wait but those that are urgent too. */
  first?: true;
  /** Drops what waits under the same name: that promise fails with an AbortError. */
  supersedes?: true;
}

interface Waiting {
  call: Call;
  first: boolean;
  done: (value: unknown) => void;
  failed: (error: unknown) => void;
}

export function queue(
  perform: (call: Call) => Promise<unknown>,
): (call: Call, how?: How) => Promise<unknown> {
  let waiting: Waiting[] = [];
  let busy = false;

  async function next(): Promise<void> {
    const one = waiting.find((each) => each.first) ?? waiting[0];
    if (!one || busy) return;
    waiting = waiting.filter((each) => each !== one);
    busy = true;
    try {
      one.done(await perform(one.call));
    } catch (error) {
      one.failed(error);
    }
    busy = false;
    void next();
  }

  return (call, how = {}) =>
    new Promise((done, failed) => {
      if (how.supersedes) {
        for (const each of waiting.filter((one) => one.call.name === call.name)) {
          each.failed(new DOMException(`${call.name} was asked again`, "AbortError"));
        }
        waiting = waiting.filter((one) => one.call.name !== call.name);
      }
      waiting.push({ call, first: how.first === true, done, failed });
      void next();
    });
}
