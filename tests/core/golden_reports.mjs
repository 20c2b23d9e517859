// The numbers of each scenario's report, one a line, so that a reviewer sees which one moved:
//
//     node tests/core/golden_reports.mjs [build/native/plimsoll]             # fails where one moved
//     node tests/core/golden_reports.mjs build/native/plimsoll --write       # ./dev rebaseline
//
// They prove nothing: what is right comes from the measured runs and the libraries. Ends like a test program.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";

const [command = "build/native/plimsoll", write] = process.argv.slice(2);
const folder = "tests/core/golden_reports";

/** Rows of a list are told apart by their names where they have some. */
const name = (item, i) => item?.id ?? item?.gib ?? item?.instance ?? item?.pointer ?? i;

function* numbers(value, path = "") {
  if (typeof value === "number") yield `${path} ${value}`;
  else if (Array.isArray(value)) for (const [i, item] of value.entries()) yield* numbers(item, `${path}/${name(item, i)}`);
  else if (value !== null && typeof value === "object")
    for (const [key, inner] of Object.entries(value)) yield* numbers(inner, `${path}/${key}`);
}

let passed = 0;
const failures = [];
mkdirSync(folder, { recursive: true });
for (const file of readdirSync("presets/scenarios")) {
  const { id, request } = JSON.parse(readFileSync(`presets/scenarios/${file}`, "utf8"));
  const answer = spawnSync(command, ["report", "--json"], { input: JSON.stringify(request), encoding: "utf8" }).stdout;
  const report = JSON.parse(answer);
  delete report.memory.timeline; // drawn points, thousands of them
  if (report.time) delete report.time.machines; // prices of a day
  const text = [...numbers(report)].join("\n") + "\n";
  const path = `${folder}/${id}.txt`;
  const golden = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (write === "--write") writeFileSync(path, text);
  else if (golden === text) passed += 1;
  else {
    const before = new Map(golden.trimEnd().split("\n").map((line) => [line.slice(0, line.lastIndexOf(" ")), line]));
    const moved = text.trimEnd().split("\n").filter((line) => before.get(line.slice(0, line.lastIndexOf(" "))) !== line);
    failures.push(`${id}:\n  ${moved.slice(0, 10).join("\n  ")}`);
  }
}
if (write === "--write") process.exit(0);
for (const failure of failures) console.log(failure);
if (failures.length > 0) console.log("./dev rebaseline writes them, when they should have moved.");
console.log(`${passed} passed, ${failures.length} failed`);
process.exit(failures.length === 0 && passed > 5 ? 0 : 1);
