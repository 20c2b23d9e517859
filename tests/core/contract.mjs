// Every answer is what core/report/contract.schema.json declares, with no field more:
//
//     node tests/core/contract.mjs [build/native/plimsoll] [build/native/plimsoll_drawn] [DRAWS]
//
// Reports of drawn requests and of every scenario, with all parts that can be wanted, the advice for scenarios and
// comparisons of each with the next. A request that the core takes is also one for docs/request.schema.json. Ends like
// a test program.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Ajv from "ajv/dist/2020.js";

const [command = "build/native/plimsoll", drawn = "build/native/plimsoll_drawn", draws = "400"] = process.argv.slice(2);
const json = (path) => JSON.parse(readFileSync(path, "utf8"));

const ajv = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true });
ajv.addSchema(json("core/report/contract.schema.json"), "contract");
const schema = (name) => ajv.getSchema(`contract#/$defs/${name}`);
const request_schema = ajv.compile(json("docs/request.schema.json"));

const ask = (words, input) =>
  spawnSync(command, words, { input, encoding: "utf8", maxBuffer: 1 << 30 }).stdout;

let passed = 0;
const failures = [];
function check(what, valid, answer) {
  if (valid(answer)) return void (passed += 1);
  const first = valid.errors[0];
  failures.push(`${first.instancePath} ${first.message} ${JSON.stringify(first.params)} in the ${what.slice(0, 600)}`);
}

const printed = spawnSync(drawn, ["--gtest_filter=Requests*"], {
  env: { ...process.env, PRINT: draws },
  encoding: "utf8",
  maxBuffer: 1 << 30,
}).stdout;
const scenarios = readdirSync("presets/scenarios").map((name) => json(`presets/scenarios/${name}`));
const want = ["plans", "limits", "machines", "timeline", "allocator"];
const requests = [
  ...printed.split("\n").filter((line) => line.startsWith("request ")).map((line) => JSON.parse(line.slice(8))),
  ...scenarios.map(({ request }) => ({ ...request, want })),
  { model: "no such model" },
];

const reports = ask(["report", "--lines"], requests.map((request) => JSON.stringify(request)).join("\n") + "\n");
reports.trimEnd().split("\n").forEach((line, i) => {
  const report = JSON.parse(line);
  check(`report of ${JSON.stringify(requests[i])}`, schema(report.ok ? "Report" : "Refusal"), report);
  if (report.ok) check(`request ${JSON.stringify(requests[i])}`, request_schema, requests[i]);
});
for (const { id, request } of scenarios) {
  const advice = ask(["advise", "--json"], JSON.stringify({ ...request, want: ["rent"] }));
  check(`advice for ${id}`, schema("Advice"), JSON.parse(advice));
}
// Each scenario beside the next one, and beside itself.
const folder = mkdtempSync(join(tmpdir(), "contract-"));
const files = scenarios.map(({ id, request }) => {
  writeFileSync(join(folder, `${id}.json`), JSON.stringify(request));
  return join(folder, `${id}.json`);
});
files.forEach((file, i) => {
  for (const other of [files[(i + 1) % files.length], file]) {
    const comparison = ask(["compare", "--json", file, other]);
    check(`comparison of ${file} with ${other}`, schema("Comparison"), JSON.parse(comparison));
  }
});
rmSync(folder, { recursive: true });

for (const failure of failures.slice(0, 30)) console.log(failure);
console.log(`${passed} passed, ${failures.length} failed`);
process.exit(failures.length === 0 && passed > 100 ? 0 : 1);
