// A module of the core: its WebAssembly compiled once, and opened by any thread that is handed it.
//
//     const module = await compile(wasmUrl);
//     const plimsoll = await open(createPlimsoll, module);
import type { Options } from "plimsoll-core/plimsoll.js";

export async function compile(url: string): Promise<WebAssembly.Module> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  // A host that sends another type for .wasm cannot be streamed from.
  const streams = answer.headers.get("Content-Type")?.startsWith("application/wasm");
  return streams ? WebAssembly.compileStreaming(answer) : WebAssembly.compile(await answer.arrayBuffer());
}

export function open<Instance>(
  create: (options: Options) => Promise<Instance>,
  module: WebAssembly.Module,
): Promise<Instance> {
  return new Promise((done, failed) => {
    create({
      instantiateWasm(imports, receive) {
        WebAssembly.instantiate(module, imports).then((instance) => receive(instance, module), failed);
        return {};
      },
    }).then(done, failed);
  });
}
