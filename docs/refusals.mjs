// Writes the table of docs/refusals.md from the rows of core/recipe/refusals.cpp:
//
//     node docs/refusals.mjs
//
// tests/core/documents.mjs fails when the page says anything else.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const source = readFileSync(new URL("../core/recipe/refusals.cpp", import.meta.url), "utf8");
const page = new URL("refusals.md", import.meta.url);
const heading = "## All rows";

// A C++ string as the compiler joins it; a field may name a constant that holds it.
const literal = '((?:"(?:[^"\\\\]|\\\\.)*"\\s*)+)';
const joined = (words) =>
  [...words.matchAll(/"((?:[^"\\]|\\.)*)"/g)]
    .map(([, part]) => part.replace(/\\n/g, " ").replace(/\\(.)/g, "$1"))
    .join("");
const text = (row, field) => {
  const said = row.match(new RegExp(`\\.${field} = ${literal}`));
  if (said) return joined(said[1]);
  const name = row.match(new RegExp(`\\.${field} = (\\w+)`))?.[1];
  return name ? joined(source.match(new RegExp(` ${name} =\\s+${literal}`))[1]) : "";
};
const cell = (words) => words.replace(/\|/g, "\\|").replace(/</g, "&lt;");

export function pageWithRows() {
  const rows = source.split(/\n {4}\{(?=\.id = )/).slice(1);
  const table = rows.map((row) => {
    const versions = text(row, "versions");
    const library = `${text(row, "library")}${versions ? ` ${cell(versions)}` : ""}`;
    return `| \`${text(row, "id")}\` | ${library} | ${cell(text(row, "error"))} | ${cell(text(row, "instead"))} | ${cell(text(row, "source"))} |`;
  });
  const written = readFileSync(page, "utf8").split(`\n${heading}\n`)[0].trimEnd();
  return `${written}

${heading}

Written by \`node docs/refusals.mjs\`.

| row | library and versions | what it prints | what to do instead | where it stands |
|---|---|---|---|---|
${table.join("\n")}
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(page, pageWithRows());
