// Schema 1 is added to and never changed: whoever has kept a request, an answer, a link, or a program on top of them, can read it
// next year. tests/release/schema-1.txt lists what it holds, a line each; none may go or say anything else.
//
//     node tests/release/frozen.mjs build/native/plimsoll            exit code 1 where a line is no longer true
//     node tests/release/frozen.mjs build/native/plimsoll --write    adds what is new, at a release
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const [command, write] = process.argv.slice(2);
const FILE = "tests/release/schema-1.txt";
const read = (path) => readFileSync(path, "utf8");

/** What a request may say: a word that is allowed stays allowed. */
function request() {
  const { fields } = JSON.parse(spawnSync(command, ["fields", "--json"], { encoding: "utf8" }).stdout);
  return fields.flatMap(({ pointer, type, allowed }) =>
    type === "word" ? allowed.split(", ").map((word) => `request ${pointer} may be ${word}`) : [`request ${pointer} is ${type}`],
  );
}

/** What an answer holds: what is always there stays there. */
function answers() {
  const lines = [];
  const kind = (schema) =>
    schema.$ref?.split("/").at(-1) ?? [schema.type, schema.items && `of ${kind(schema.items)}`].flat().filter(Boolean).join(" ") ?? "";
  const walk = (name, schema) => {
    for (const [key, each] of Object.entries(schema.properties ?? {})) {
      const path = `${name}.${key}`;
      lines.push(`answer ${path} is ${kind(each) || "any"}${schema.required?.includes(key) ? "" : ", where it is there"}`);
      walk(path, each.items ?? each);
    }
  };
  for (const [name, schema] of Object.entries(JSON.parse(read("core/report/contract.schema.json")).$defs)) walk(name, schema);
  return lines;
}

/** What programs call: functions of the modules, of the npm package and of the Python package. */
function calls() {
  const of = (path, pattern, whose) => [...read(path).matchAll(pattern)].map(([, name]) => `${whose} has ${name}`);
  return [
    ...of("wasm/plimsoll.d.ts", /^ {2}(\w+)\(/gm, "the first module"),
    ...of("wasm/more.d.ts", /^ {2}(\w+)\(/gm, "the second module"),
    ...of("npm/index.d.ts", /(?:function |^ {2})(\w+)\(/gm, "the npm package"),
    ...of("core/cli/python/plimsoll/__init__.py", /^def ([a-z]\w*)\(/gm, "the Python package"),
  ];
}

/** What an embedded card tells the page around it, and how a link is written. */
function messages() {
  const frame = read("web/src/embed/frame.ts");
  const [, parts] = /postMessage\(\{ ([^}]*) \}/.exec(frame);
  const link = read("web/src/link.ts");
  const [, version] = /const VERSION = "(\w+)"/.exec(link);
  return [`a message has ${parts.replace(/: \w+/g, "")}`, `a link of version ${version} is written`];
}

const now = [...new Set([...request(), ...answers(), ...calls(), ...messages()])].sort();
const kept = read(FILE).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
const held = new Set(now);
const gone = kept.filter((line) => !held.has(line));
for (const line of gone) console.log(`FAILED  no longer true: ${line}`);
if (write && gone.length === 0) writeFileSync(FILE, `# Written at a release by tests/release/frozen.mjs; lines are added and never taken away.\n${now.join("\n")}\n`);
console.log(`${kept.length - gone.length} passed, ${gone.length} failed`);
process.exit(gone.length === 0 ? 0 : 1);
