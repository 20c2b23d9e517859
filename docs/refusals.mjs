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

// The packages of recipe::Versions, as people write them.
const packages = {
  accelerate: "Accelerate",
  bitsandbytes: "bitsandbytes",
  llamafactory: "LLaMA-Factory",
  peft: "PEFT",
  torch: "PyTorch",
  transformers: "Transformers",
  trl: "TRL",
  unsloth: "Unsloth",
};
// What stands in an error for a value of the run (`values` of core/recipe/refusals.cpp).
const values = {
  eval_batch: "per_device_eval_batch_size",
  flash_version: "2 or 3",
  generation_batch: "number",
  mamba_target: "target module",
  model_type: "type",
  num_generations: "num_generations",
  optim: "optimizer",
  processes: "number of GPUs",
  steps_per_generation: "steps_per_generation",
  task: "task",
  train_batch: "per_device_train_batch_size",
};
const known = (table, word) => table[word] ?? fail(`docs/refusals.mjs has no word for ${word}`);
const fail = (why) => {
  throw new Error(why);
};
const printed = (error) => cell(error).replace(/\{(\w+)\}/g, (_, name) => `*${known(values, name)}*`);

/** "TRL >=1.15"; where another package decides, "Transformers with PyTorch <2.2". */
function library_and_versions(row) {
  const library = text(row, "library"),
    versions = text(row, "versions");
  if (versions === "") return library;
  const decides = known(packages, row.match(/\.of = &V::(\w+)/)[1]);
  return `${library}${decides === library ? "" : ` with ${decides}`} ${cell(versions)}`;
}

export function pageWithRows() {
  const rows = source.split(/\n {4}\{(?=\.id = )/).slice(1);
  const table = rows.map((row) => {
    return `| \`${text(row, "id")}\` | ${library_and_versions(row)} | ${printed(text(row, "error"))} | ${cell(text(row, "instead"))} | ${cell(text(row, "source"))} |`;
  });
  const written = readFileSync(page, "utf8").split(`\n${heading}\n`)[0].trimEnd();
  return `${written}

${heading}

Written by \`node docs/refusals.mjs\`. What stands in *italics* is a value of the run.

| row | library and versions | what it prints | what to do instead | where it stands |
|---|---|---|---|---|
${table.join("\n")}
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(page, pageWithRows());
