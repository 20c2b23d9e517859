// Finds the .wasm beside this file: by reading it under Node.js, by fetching it elsewhere.
import createPlimsoll from "./plimsoll.js";
import createMore from "./plimsoll_more.js";

const parse = (text) => JSON.parse(text);

async function instantiate(create, name) {
  const address = new URL(name, import.meta.url);
  if (address.protocol !== "file:") return create({ locateFile: () => address.href });
  const { readFile } = await import("node:fs/promises");
  return create({ wasmBinary: await readFile(address) });
}

export async function load() {
  const module = await instantiate(createPlimsoll, "plimsoll.wasm");
  return {
    version: module.version(),
    report: (request) => parse(module.report(JSON.stringify(request))),
    models: () => parse(module.models()).models,
    gpus: () => parse(module.gpus()).gpus,
  };
}

export async function loadMore() {
  const module = await instantiate(createMore, "plimsoll_more.wasm");
  return {
    report: (request) => parse(module.report(JSON.stringify(request))),
    advise: (request) => parse(module.advise(JSON.stringify(request))),
    compare: (one, other) => parse(module.compare(JSON.stringify(one), JSON.stringify(other))),
    diagnose: (text, request) => parse(module.diagnose(text, request ? JSON.stringify(request) : "", "")),
  };
}
