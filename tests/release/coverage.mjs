// The share of the core's lines and branches that ran, by folder, and the functions of which no line did:
//
//     node tests/release/coverage.mjs build/coverage
//
// Read from gcov's own JSON, one for each object of the core. A line of a header counts once, however often it is compiled.
// Branches that only an exception takes are left out: the core throws none.
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";

const build = resolve(process.argv[2]);
const root = process.cwd();
const objects = readdirSync(build, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.name.endsWith(".gcda"))
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name));

const lines = new Map(); // "core/json/json.cpp:12" -> { ran, branches: [ran, ...] }
const functions = new Map(); // "core/json/json.cpp:12 name" -> ran
for (const object of objects) {
  const text = execFileSync("gcov", ["--json-format", "--stdout", "--branch-probabilities", object], {
    cwd: build,
    maxBuffer: 2 ** 30,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const report = JSON.parse((text[0] === 0x1f ? gunzipSync(text) : text).toString());
  for (const file of report.files) {
    const path = resolve(report.current_working_directory, file.file);
    if (!path.startsWith(`${root}/core/`)) continue;
    const name = path.slice(root.length + 1);
    for (const line of file.lines) {
      const key = `${name}:${line.line_number}`;
      const known = lines.get(key) ?? { ran: false, branches: [] };
      known.ran ||= line.count > 0;
      line.branches.forEach(({ count, throw: thrown }, index) => {
        if (!thrown) known.branches[index] = known.branches[index] || count > 0;
      });
      lines.set(key, known);
    }
    for (const one of file.functions) {
      const key = `${name}:${one.start_line} ${one.demangled_name}`;
      functions.set(key, functions.get(key) || one.execution_count > 0);
    }
  }
}

const folders = new Map();
for (const [key, { ran, branches }] of lines) {
  const folder = key.split("/").slice(0, 2).join("/");
  for (const name of [folder, "all"]) {
    const sum = folders.get(name) ?? { lines: 0, ran: 0, branches: 0, taken: 0 };
    sum.lines += 1;
    sum.ran += ran ? 1 : 0;
    const real = branches.filter((branch) => branch !== undefined);
    sum.branches += real.length;
    sum.taken += real.filter(Boolean).length;
    folders.set(name, sum);
  }
}
const share = (part, whole) => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
console.log("| folder | lines | run | branches | taken |\n|---|---:|---:|---:|---:|");
for (const [name, sum] of [...folders].sort()) {
  console.log(`| ${name} | ${sum.lines} | ${share(sum.ran, sum.lines)} | ${sum.branches} | ${share(sum.taken, sum.branches)} |`);
}
const never = [...functions].filter(([, ran]) => !ran).map(([key]) => key);
console.log(`\nFunctions that no test runs: ${never.length}`);
for (const key of never.sort()) console.log(`- ${key.slice(0, 160)}`);
