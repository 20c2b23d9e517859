// Totals of released requests against what the core says now. A total that has changed is listed in CHANGELOG.md, so that
// nobody meets another number next year without being told:
//
//     node tests/release/numbers.mjs build/native/plimsoll            exit code 1 where the list is not that of this core
//     node tests/release/numbers.mjs build/native/plimsoll --write    writes the list
//
// The released requests are those of tests/links/v1.jsonl, with the total that each showed.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const [command, write] = process.argv.slice(2);
const changelog = "CHANGELOG.md";
const begin = "<!-- totals of tests/links: node tests/release/numbers.mjs build/native/plimsoll --write -->\n";
const end = "<!-- end of totals -->\n";

const kept = readFileSync("tests/links/v1.jsonl", "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line));
const answers = execFileSync(command, ["report", "--lines"], {
  input: kept.map(({ request }) => `${JSON.stringify(request)}\n`).join(""),
  encoding: "utf8",
  maxBuffer: 2 ** 28,
})
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

const named = ({ request }) => (typeof request.model === "string" ? request.model : request.model.name);
let changed = "";
kept.forEach((one, index) => {
  const now = (answers[index].memory.peak.device / 2 ** 30).toFixed(2);
  if (now !== one.total) changed += `- Link ${index + 1} (${named(one)}): ${one.total} GiB, now ${now} GiB.\n`;
});

const text = readFileSync(changelog, "utf8");
const from = text.indexOf(begin) + begin.length;
const to = text.indexOf(end);
if (from < begin.length || to < 0) throw new Error(`${changelog} has no place for totals.`);
if (write === "--write") {
  writeFileSync(changelog, text.slice(0, from) + changed + text.slice(to));
} else if (text.slice(from, to) !== changed) {
  console.log(`${changelog} lists other totals than this core gives. What changed, ./dev rebaseline writes:\n${changed}`);
  process.exit(1);
}
console.log(`${kept.length} requests, ${changed.split("\n").length - 1} with another total: 1 passed`);
