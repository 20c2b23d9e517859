// What the documents name is there, and there is one version:
//
//     node tests/core/documents.mjs
//
// Paths in `code` of CONTRIBUTING.md and docs/architecture.md, links between documents, the versions of the packages, the rows of
// docs/refusals.md. Ends like a test program.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pageWithRows } from "../../docs/refusals.mjs";

let passed = 0;
const failures = [];
const check = (good, why) => (good ? (passed += 1) : failures.push(why));

for (const document of ["CONTRIBUTING.md", "docs/architecture.md"]) {
  const text = readFileSync(document, "utf8");
  for (const [, path] of text.matchAll(/`((?:core|web|presets|tests|docs|wasm|npm)\/[\w./-]*)`/g))
    check(existsSync(path), `${document} names ${path}, which does not exist`);
  for (const [, target] of text.matchAll(/\]\(([^)#]+)\)/g))
    check(
      /^https?:/.test(target) || existsSync(join(dirname(document), target)),
      `${document} points to ${target}`,
    );
}
const version = readFileSync("VERSION", "utf8").trim();
for (const path of ["package.json", "npm/package.json"]) {
  const stated = JSON.parse(readFileSync(path, "utf8")).version;
  check(stated === version, `${path} says ${stated}, VERSION ${version}`);
}
check(
  readFileSync("CHANGELOG.md", "utf8").includes(`\n## ${version}\n`),
  `CHANGELOG.md has no chapter ${version}`,
);
check(
  readFileSync("docs/refusals.md", "utf8") === pageWithRows(),
  "docs/refusals.md: node docs/refusals.mjs writes its rows",
);
for (const [place] of pageWithRows().matchAll(/\{\w+\}/g))
  failures.push(`docs/refusals.md prints ${place}, which is no word`);
check(
  pageWithRows().includes("| Transformers with PyTorch &lt;2.2 |"),
  "docs/refusals.md: bf16_before_ampere does not name the package whose version decides",
);

for (const failure of failures) console.log(failure);
console.log(`${passed} passed, ${failures.length} failed`);
process.exit(failures.length === 0 && passed > 40 ? 0 : 1);
