// No file of the core includes one of a higher room, and rooms on one floor do not know each other:
//
//     node tests/core/rooms.mjs
//
// The floors are those of docs/architecture.md, lowest first. And no file but the tables (core/model/model_types.cpp,
// core/recipe/stacks.cpp) asks which stack or which model type a run has; core/exchange writes a stack's own files,
// core/model reads a model's own config, and core/recipe/refusals.cpp asks for model types. And no file, function or
// list of parameters is longer than a reader takes in at once, but for the reasons that are named. Ends like a test
// program.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const floors = {
  core: [
    "json",
    "hardware model",
    "recipe",
    "memory",
    "time",
    "run",
    "advice diagnosis exchange",
    "question",
    "report",
    "cli",
  ],
  "core/memory": ["tape", "layers", "head", "parameters", "sharding", "step", "allocator"],
};

const sources = readdirSync("core", { recursive: true })
  .map((name) => join("core", name).replaceAll("\\", "/"))
  .filter((path) => /\.(h|cpp)$/.test(path));

let passed = 0;
const failures = [];
for (const [house, rows] of Object.entries(floors)) {
  const floor = new Map(rows.flatMap((row, height) => row.split(" ").map((room) => [room, height])));
  const room = (path) =>
    path.startsWith(house + "/") ? path.slice(house.length + 1).split("/")[0] : undefined;
  for (const path of sources) {
    const from = room(path);
    if (from === undefined) continue;
    if (!floor.has(from)) failures.push(`${path}: ${house}/${from} stands on no floor`);
    for (const [, included] of readFileSync(path, "utf8").matchAll(/^#include "(core\/[^"]+)"/gm)) {
      const to = room(included);
      if (to === undefined || to === from) continue;
      if (floor.get(to) < floor.get(from)) passed += 1;
      else failures.push(`${path} includes ${included}: ${to} is not below ${from}`);
    }
  }
}
// A comparison with a word, in any of the ways in which it can be written; with a row of a table it is none.
const word = String.raw`\s*[!=]=\s*(?:(?:json::)?Json\()?`;
const asks_stack = [
  new RegExp(String.raw`\b(?:stack|stack_id)"?[\])]?(?:->second)?${word}"`),
  /\.stack\s*[!=]=\s*(?!(?:\w+\.)?stack\b|nullptr)[a-z]/,
  /\.stack\.(?:rfind|find|compare|starts_with)\("/,
];
const asks_model_type = [
  new RegExp(String.raw`\bmodel_type"?[\])]?${word}"`),
  /\.model_type\.(?:rfind|find|compare|starts_with)\("/,
];
const asks_implementation = [
  new RegExp(String.raw`\bmodel_args(?:\.|/)implementation"?[\])]*(?:->second)?${word}"`),
];
for (const path of sources) {
  const reads_both = /^core\/(exchange|model)\//.test(path);
  const asks = [
    ...asks_implementation,
    ...(reads_both ? [] : asks_stack),
    ...(reads_both || path === "core/recipe/refusals.cpp" ? [] : asks_model_type),
  ];
  readFileSync(path, "utf8")
    .split("\n")
    .forEach((line, i) => {
      if (asks.some((one) => one.test(line)))
        failures.push(`${path}:${i + 1} asks which it is: ${line.trim()}`);
    });
  passed += 1;
}
for (const line of [
  'values.at("/stack") == "trl"',
  'stack->second == json::Json("unsloth")',
  "r.stack == sft_trainer",
]) {
  passed += 1;
  if (!asks_stack.some((one) => one.test(line))) failures.push(`nobody notices ${line}`);
}
for (const line of [
  'r.model_args.implementation != "litgpt"',
  'at("/model_args/implementation") == "unsloth"',
]) {
  passed += 1;
  if (!asks_implementation.some((one) => one.test(line))) failures.push(`nobody notices ${line}`);
}
const longest = { file: 400, function: 60, parameters: 6 };
// What may be longer, and why. A row that no longer is must go.
const longer = new Map(
  Object.entries({
    "core/recipe/fields.cpp": "one table, in the order in which defaults are resolved",
    "core/recipe/refusals.cpp": "one table of what libraries refuse",
    "core/memory/layers/attention.cpp attend, parameters": "queries, keys and values are three of them",
    "core/memory/step/layer_replay.cpp walk_with_graph": "what happens to a layer, in its order",
    "core/model/families/deepseek.cpp read": "one configuration, key by key",
    "core/model/families/deepseek_v4.cpp read_deepseek_v4": "one configuration, key by key",
    "core/model/families/gemma3n.cpp read_gemma3n_text": "one configuration, key by key",
    "core/model/families/gemma4.cpp read_gemma4_text": "one configuration, key by key",
    "core/model/families/granite_hybrid.cpp read_granite_hybrid": "one configuration, key by key",
    "core/model/families/hybrids.cpp read_nemotron_h": "one configuration, key by key",
    "core/model/families/kimi_linear.cpp read_kimi_linear": "one configuration, key by key",
    "core/model/families/lfm.cpp read": "one configuration, key by key",
    "core/model/families/llama_vision.cpp read_llama4_text": "one configuration, key by key",
    "core/model/families/mamba.cpp read_jamba": "one configuration, key by key",
    "core/model/families/own_code_vision.cpp read_qwen": "one configuration, key by key",
  }),
);

/** The functions of a source: their first lines, how long they are, and how many parameters they take. */
function* functions(text) {
  const lines = text.split("\n");
  for (let i = 0; i < lines.length; i++) {
    const head =
      /^( {0,2})(?=\S)(?!namespace|struct|class|enum|return|else|if|for|while|switch|using|constexpr)(?:[\w:<>,&*~ ]+[ &*])?(?!std::)([\w:~]+)\(/.exec(
        lines[i],
      );
    if (head === null || lines[i].includes(" = ")) continue;
    let last = i;
    while (last < i + 6 && !/[{;}]$/.test(lines[last] ?? ";")) last++;
    if (!lines[last]?.endsWith("{")) continue;
    let end = last + 1;
    while (end < lines.length && !lines[end].startsWith(head[1] + "}")) end++;
    let depth = 0,
      parameters = 1;
    for (const sign of lines
      .slice(i, last + 1)
      .join(" ")
      .slice(head[0].length - 1)) {
      if ("(<[{".includes(sign)) depth++;
      else if (")>]}".includes(sign) && --depth === 0) break;
      else if (sign === "," && depth === 1) parameters++;
    }
    yield { name: head[2], lines: end - i + 1, parameters };
    i = last;
  }
}
const met = new Set();
function limit(what, size, most) {
  passed += 1;
  if (size <= most) return;
  met.add(what);
  if (!longer.has(what)) failures.push(`${what}: ${size}, at most ${most}`);
}
for (const path of sources) {
  const text = readFileSync(path, "utf8");
  limit(path, text.split("\n").length - 1, longest.file);
  for (const one of functions(text)) {
    limit(`${path} ${one.name}`, one.lines, longest.function);
    limit(`${path} ${one.name}, parameters`, one.parameters, longest.parameters);
  }
}
for (const what of longer.keys())
  if (!met.has(what)) failures.push(`${what} is no longer too long: take it from the list`);
for (const failure of failures) console.log(failure);
console.log(`${passed} passed, ${failures.length} failed`);
process.exit(failures.length === 0 && passed > 100 ? 0 : 1);
