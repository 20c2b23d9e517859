// The declarations of wasm/*.d.ts are those of the bindings: the same names, and as many parameters as the modules take.
//
//     node tests/wasm/declarations.mjs build/wasm
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";

const folder = resolve(process.argv[2] ?? "build/wasm");
const source = (name) => readFileSync(new URL(`../../wasm/${name}`, import.meta.url), "utf8");

/** Of each function of an interface, and of the interfaces before it, how many parameters it has. */
function declared(...files) {
  const counts = new Map();
  for (const file of files) {
    const tree = ts.createSourceFile(file, source(file), ts.ScriptTarget.ES2022);
    for (const each of tree.statements.filter(ts.isInterfaceDeclaration)) {
      if (each.name.text === "Options") continue;
      for (const member of each.members.filter(ts.isMethodSignature))
        counts.set(member.name.text, member.parameters.length);
    }
  }
  return counts;
}

const bound = (...files) =>
  files.flatMap((file) => [...source(file).matchAll(/^ {2}function\("(\w+)"/gm)].map(([, name]) => name));

/** embind refuses a call with another number of arguments, and says how many it takes. */
function arity(module, name) {
  try {
    module[name](...Array(9).fill(""));
  } catch (error) {
    return Number(/expected (\d+) args/.exec(error.message)?.[1] ?? NaN);
  }
  return NaN;
}

let passed = 0;
let failed = 0;
function check(name, good, why) {
  if (good) passed += 1;
  else failed += 1;
  if (!good) console.log(`FAILED  ${name}: ${why}`);
}

for (const [name, declarations, bindings] of [
  ["plimsoll", ["plimsoll.d.ts"], ["bindings.cpp"]],
  ["plimsoll_more", ["plimsoll.d.ts", "more.d.ts"], ["bindings.cpp", "more_bindings.cpp"]],
]) {
  const { default: create } = await import(pathToFileURL(`${folder}/${name}.js`).href);
  const module = await create({ wasmBinary: readFileSync(`${folder}/${name}.wasm`) });
  const types = declared(...declarations);
  const names = bound(...bindings);
  check(name, names.length > 5, "its bindings were not found");
  for (const each of names) check(`${name}.${each}`, types.has(each), "bound, and not declared");
  for (const [each, parameters] of types) {
    check(`${name}.${each}`, names.includes(each), "declared, and not bound");
    check(`${name}.${each}`, arity(module, each) === parameters, `takes ${arity(module, each)}, declared with ${parameters}`);
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
