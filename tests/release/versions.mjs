// One version everywhere: VERSION, the core, the page, the npm package, CHANGELOG.md and the page's own list of changes; every
// library in the page is under its licence in third-party.txt, and every action of a workflow is named by hash.
//
//     node tests/release/versions.mjs build/native/plimsoll
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

const [command] = process.argv.slice(2);
const read = (path) => readFileSync(path, "utf8");
const version = read("VERSION").trim();
let failed = 0;
let passed = 0;
function check(name, good) {
  if (good) passed += 1;
  else failed += 1;
  if (!good) console.log(`FAILED  ${name}`);
}

check("VERSION is three numbers", /^\d+\.\d+\.\d+$/.test(version));
check("the core says VERSION", execFileSync(command, ["--version"], { encoding: "utf8" }).trim() === version);
for (const path of ["package.json", "package-lock.json", "npm/package.json"]) {
  check(`${path} says VERSION`, JSON.parse(read(path)).version === version);
}
check("the newest release in CHANGELOG.md is VERSION", /^## (\d\S+)/m.exec(read("CHANGELOG.md"))?.[1] === version);
check("the page's changes begin with VERSION", /<h2>(\S+)<\/h2>/.exec(read("web/docs/changes.html"))?.[1] === version);

// Of types alone, and for Node.js alone: not in the page.
const OUTSIDE = ["@types/trusted-types", "@lit-labs/ssr-dom-shim"];
const licences = read("web/public/third-party.txt");
for (const { name, version: has } of libraries().filter(({ name }) => !OUTSIDE.includes(name))) {
  check(`${name} ${has} is in third-party.txt`, licences.includes(`${name} ${has} (`));
}
for (const name of readdirSync(".github/workflows")) {
  const unpinned = read(`.github/workflows/${name}`).match(/uses: (?!\S+@[0-9a-f]{40} # v\d)\S+/g);
  check(`${name} names its actions by hash`, unpinned === null);
}

/** What npm puts into the page. */
function libraries() {
  return Object.entries(JSON.parse(read("package-lock.json")).packages)
    .filter(([path, one]) => path !== "" && !one.dev)
    .map(([path, one]) => ({ name: path.replace(/^.*node_modules\//, ""), version: one.version, licence: one.license, integrity: one.integrity }));
}

console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
