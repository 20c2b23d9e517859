// No file of the core includes one of a higher room, and rooms on one floor do not know each other:
//
//     node tests/core/rooms.mjs
//
// The floors are those of docs/architecture.md, lowest first. And no file but the tables (core/model/model_types.cpp,
// core/recipe/stacks.cpp, core/recipe/refusals.cpp) asks which stack or which model type a run has; core/exchange writes a stack's own files, and
// core/model reads a model's own config. Ends like a test program.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const floors = {
  "core": ["json", "hardware model", "recipe", "memory", "time", "run", "advice diagnosis exchange", "report", "cli"],
  "core/memory": ["tape", "layers", "head", "parameters", "sharding", "step", "allocator"],
};

const sources = readdirSync("core", { recursive: true })
  .map((name) => join("core", name).replaceAll("\\", "/"))
  .filter((path) => /\.(h|cpp)$/.test(path));

let passed = 0;
const failures = [];
for (const [house, rows] of Object.entries(floors)) {
  const floor = new Map(rows.flatMap((row, height) => row.split(" ").map((room) => [room, height])));
  const room = (path) => (path.startsWith(house + "/") ? path.slice(house.length + 1).split("/")[0] : undefined);
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
// A comparison with a word, in any of the ways in which it can be written.
const asks = /\b(?:stack|model_type|stack_id)\s*[!=]=\s*"|\.(?:stack|model_type)\.(?:rfind|find|compare|starts_with)\("/;
for (const path of sources) {
  if (/^core\/(exchange|model)\//.test(path) || path === "core/recipe/refusals.cpp") continue;
  readFileSync(path, "utf8").split("\n").forEach((line, i) => {
    if (asks.test(line)) failures.push(`${path}:${i + 1} asks which it is: ${line.trim()}`);
  });
  passed += 1;
}
for (const failure of failures) console.log(failure);
console.log(`${passed} passed, ${failures.length} failed`);
process.exit(failures.length === 0 && passed > 100 ? 0 : 1);
