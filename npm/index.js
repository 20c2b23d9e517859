// Finds the .wasm and the presets beside this file: by reading them under Node.js, by fetching them elsewhere.
import createPlimsoll from "./plimsoll.js";
import createMore from "./plimsoll_more.js";

const parse = (text) => JSON.parse(text);

/** The bytes of a file of this package under Node.js, its address elsewhere. */
async function beside(name) {
  const address = new URL(name, import.meta.url);
  if (address.protocol !== "file:") return { address: address.href };
  const { readFile } = await import("node:fs/promises");
  return { bytes: await readFile(address) };
}

async function instantiate(create, name) {
  const { address, bytes } = await beside(name);
  return create({ wasmBinary: bytes ?? (await (await fetch(address)).arrayBuffer()) });
}

async function text(name) {
  const { address, bytes } = await beside(name);
  return bytes ? bytes.toString("utf8") : (await fetch(address)).text();
}

async function withPresets(module, names) {
  for (const name of names) {
    const problem = module.add_presets(await text(name));
    if (problem !== "") throw new Error(problem);
  }
  return module;
}

/** The small module, with the models of the documented cases: enough for a first answer. */
export async function loadFirst() {
  const module = await withPresets(await instantiate(createPlimsoll, "plimsoll.wasm"), ["first.txt"]);
  return {
    version: module.version(),
    report: (request) => parse(module.quick_report(JSON.stringify(request))),
    models: () => parse(module.models()).models,
    gpus: () => parse(module.gpus()).gpus,
  };
}

async function whole() {
  const module = await withPresets(await instantiate(createMore, "plimsoll_more.wasm"), ["first.txt", "rest.txt"]);
  return {
    version: module.version(),
    report: (request) => parse(module.report(JSON.stringify(request))),
    models: () => parse(module.models()).models,
    gpus: () => parse(module.gpus()).gpus,
    advise: (request) => parse(module.advise(JSON.stringify(request))),
    compare: (one, other) => parse(module.compare(JSON.stringify(one), JSON.stringify(other))),
    diagnose: (text, request) => parse(module.diagnose(text, request ? JSON.stringify(request) : "", "")),
  };
}

let loading;

export const load = () => (loading ??= whole());

/** Kept for programs that were written when the slower half was apart. */
export const loadMore = load;
