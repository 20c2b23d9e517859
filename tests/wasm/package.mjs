// The npm package as somebody else would have it: packed, installed into an empty project, run, and type-checked against
// reports that the core really gave.
//
//     node tests/wasm/package.mjs build/wasm build/npm
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const [wasm, out] = process.argv.slice(2).map((path) => resolve(path));
const root = resolve(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../..");
const tsc = join(root, "node_modules/typescript/bin/tsc");
const run = (command, args, cwd) => execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

let failed = 0;
let passed = 0;
function check(name, good, why = "") {
  if (good) passed += 1;
  else failed += 1;
  if (!good) console.log(`FAILED  ${name} ${why}`);
}

// Assemble
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
for (const name of readdirSync(join(root, "npm"))) copyFileSync(join(root, "npm", name), join(out, name));
copyFileSync(join(root, "LICENSE"), join(out, "LICENSE"));
for (const name of ["plimsoll.js", "plimsoll.wasm", "plimsoll_more.js", "plimsoll_more.wasm", "first.txt", "rest.txt"]) {
  copyFileSync(join(wasm, name), join(out, name));
}
run(process.execPath, [tsc, join(root, "web/src/contract.ts"), "--declaration", "--emitDeclarationOnly", "--outDir", out]);

// Pack, install, run
const project = mkdtempSync(join(tmpdir(), "plimsoll-package-"));
const packed = run("npm", ["pack", "--silent", "--pack-destination", project], out).trim().split("\n").at(-1);
writeFileSync(join(project, "package.json"), '{"name": "somebody", "private": true, "type": "module"}');
run("npm", ["install", "--silent", "--offline", "--no-audit", "--no-fund", `./${packed}`], project);
const scenarios = readdirSync(join(root, "presets/scenarios")).map(
  (name) => JSON.parse(readFileSync(join(root, "presets/scenarios", name), "utf8")).request,
);
writeFileSync(
  join(project, "use.mjs"),
  `import { load, loadFirst, loadMore } from "plimsoll-core";
const requests = ${JSON.stringify(scenarios)};
const { report, models, gpus, version } = await load();
const more = await loadMore();
const first = await loadFirst();
console.log(JSON.stringify({
  version, models: models().length, gpus: gpus().length,
  reports: requests.map((request) => report(request)),
  first: requests.map((request) => first.report(request)),
  refused: report({ model: "mistral-7b-v0.3", peft: { r: -1 } }),
  timeline: more.report({ ...requests[0], want: ["timeline"] }),
  advice: more.advise(requests[0]),
  comparison: more.compare(requests[0], requests[1]),
}));`,
);
const answers = JSON.parse(run(process.execPath, ["use.mjs"], project));
check("the package answers every scenario", answers.reports.length === scenarios.length && answers.reports.every((report) => report.ok));
// What is reserved for that it takes a share.
check("the small module finds the same allocated in the scenarios", answers.first.every((report, index) =>
  report.memory.peak.allocated === answers.reports[index].memory.peak.allocated));
check("it knows models and GPUs", answers.models > 100 && answers.gpus > 50);
check("a bad request is refused in words", answers.refused.ok === false && answers.refused.errors[0].pointer === "/peft/r");
check("the slower half advises, compares and draws the timeline",
  answers.advice.ok && answers.comparison.ok && answers.timeline.memory.timeline.points.length > 10);

// Types: a literal may hold nothing that its type does not name.
writeFileSync(
  join(project, "golden.ts"),
  `import type { Advice, Comparison, Refusal, Report } from "plimsoll-core";\n` +
    answers.reports.map((report, index) => `export const report${index}: Report = ${JSON.stringify(report)};\n`).join("") +
    `export const refused: Refusal = ${JSON.stringify(answers.refused)};\n` +
    `export const timeline: Report = ${JSON.stringify(answers.timeline)};\n` +
    `export const advice: Advice = ${JSON.stringify(answers.advice)};\n` +
    `export const comparison: Comparison = ${JSON.stringify(answers.comparison)};\n`,
);
try {
  run(process.execPath, [tsc, "golden.ts", "--noEmit", "--strict", "--module", "nodenext", "--moduleResolution", "nodenext", "--target", "es2022"], project);
  check("the types name everything that reports hold", true);
} catch (error) {
  check("the types name everything that reports hold", false, String(error.stdout).slice(0, 2000));
}
rmSync(project, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
