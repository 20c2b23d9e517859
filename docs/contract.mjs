// The contract is declared once: the fields of a request in core/recipe/fields.cpp, the answers in
// core/report/contract.schema.json. From these come the types of the page, of the npm package and of the Python package, a
// JSON Schema of the request for editors, and the page of the docs that lists both:
//
//     node docs/contract.mjs build/native/plimsoll            # writes them
//     node docs/contract.mjs build/native/plimsoll --check    # fails where they differ
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { format } from "prettier";
import { pythonTypes } from "./python_types.mjs";

const [command, check] = [process.argv[2] ?? "build/native/plimsoll", process.argv.includes("--check")];
const answers = JSON.parse(readFileSync("core/report/contract.schema.json", "utf8"));
const { fields } = JSON.parse(spawnSync(command, ["fields", "--json"], { encoding: "utf8" }).stdout);

const name = (reference) => reference.split("/").at(-1);

// ---- TypeScript ----

const comment = (words) => (words ? `/** ${words} */\n` : "");

function members({ properties, required = [] }) {
  return Object.entries(properties)
    .map(([key, each]) => `${comment(each.description)}${key}${required.includes(key) ? "" : "?"}: ${typed(each)};`)
    .join("\n");
}

function typed(schema) {
  if (schema.$ref) return name(schema.$ref);
  if (schema.enum) return schema.enum.map((word) => JSON.stringify(word)).join(" | ");
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.anyOf) return schema.anyOf.map(typed).join(" | ");
  if (Array.isArray(schema.type)) return schema.type.join(" | ");
  if (schema.prefixItems) return `[${schema.prefixItems.map(typed).join(", ")}]`;
  if (schema.type === "array") return `(${typed(schema.items)})[]`;
  if (schema.properties) return `{\n${members(schema)}}`;
  if (schema.type === "object") return schema.additionalProperties ? `Record<string, ${typed(schema.additionalProperties)}>` : "JsonObject";
  return schema.type ?? "Json";
}

/** What TypeScript says in a way of its own. */
const own = {
  Json: "null | boolean | number | string | Json[] | { [key: string]: Json }",
  JsonObject: "{ [key: string]: Json }",
  Range: "[low: number, high: number]",
};

const types = Object.entries(answers.$defs).map(([each, schema]) =>
  schema.properties && !(each in own)
    ? `${comment(schema.description)}export interface ${each} {\n${members(schema)}}`
    : `${comment(schema.description)}export type ${each} = ${own[each] ?? typed(schema)};`,
);

const typescript = `// Written by docs/contract.mjs from core/report/contract.schema.json: change it there.
//
//     const request: Request = { model: "mistral-7b-v0.3", peft: { r: 16 }, hardware: { gpu: "a10g" } };
//
// The request and the report of the core, as data. Sizes are bytes, exact up to 2^53. The core alone decides what is
// valid; the page carries any JSON, so a request here is only as typed as the fields that the page itself reads or writes.

${types.join("\n\n")}
`;

// ---- JSON Schema of the request ----

const texts = { type: "array", items: { type: "string" } };
const kinds = {
  count: { type: "integer", minimum: 0 },
  number: { type: "number" },
  flag: { type: "boolean" },
  text: { type: "string" },
  texts,
  texts_or_text: { anyOf: [{ type: "string" }, texts] },
  text_map: { type: "object", additionalProperties: { type: ["string", "number"] } },
};
const said = ({ type, allowed }) => (type === "word" ? { enum: allowed.split(", ") } : kinds[type]);

/** A field of null is one that is not said. */
function kind(field) {
  const own = said(field);
  if (own?.enum) return { enum: [...own.enum, null] };
  if (own?.anyOf) return { anyOf: [...own.anyOf, { type: "null" }] };
  return own && { ...own, type: [own.type, "null"] };
}

function requestSchema() {
  const root = { type: "object", properties: {}, required: ["model"], additionalProperties: false };
  root.properties.model = {
    description: "Hugging Face id or preset id, or a config.json with a name for it.",
    anyOf: [
      { type: "string" },
      { type: "object", properties: { config: { type: "object" }, name: { type: "string" } }, required: ["config"] },
    ],
  };
  for (const field of fields) {
    const path = field.pointer.slice(1).split("/");
    let at = root;
    for (const section of path.slice(0, -1)) {
      at.properties[section] ??= { type: ["object", "null"], properties: {}, additionalProperties: false };
      at = at.properties[section];
    }
    if (kind(field) === undefined) throw new Error(`no schema for a field of type "${field.type}"`);
    at.properties[path.at(-1)] = { description: field.what, ...kind(field) };
  }
  return {
    $schema: answers.$schema,
    title: "A request to Plimsoll",
    description: "Written by docs/contract.mjs from core/recipe/fields.cpp.",
    ...root,
  };
}

// ---- The page of the docs ----

const cell = (text) => String(text).replaceAll("|", "\\|").replaceAll("\n", " ");

function api() {
  const lines = [
    "# The contract: request and answers",
    "",
    "Written by `docs/contract.mjs` from `core/recipe/fields.cpp` and `core/report/contract.schema.json`. Field names are those of",
    "Transformers, PEFT, TRL and bitsandbytes; they are added to and never renamed. `docs/request.schema.json` is the same for editors.",
    "",
    "## Fields of a request",
    "",
    "Only `model` is required: a Hugging Face id, a preset's id, or `{\"config\": {...}, \"name\": \"mine\"}`.",
    "A field that is `null` is not said, as if it were absent, and the default is taken; a section that is `null` (`peft`, `quantization`)",
    "is none. A version is written as pip prints it, `4.51.3`; `latest`, `main` and `git` mean the newest that Plimsoll knows, which the",
    "report then lists among its assumptions.",
    "",
    "| field | type | allowed | what it means |",
    "| --- | --- | --- | --- |",
    ...fields.map((f) => `| \`${f.pointer.slice(1).replaceAll("/", ".")}\` | ${f.type} | ${cell(f.allowed)} | ${cell(f.what)} |`),
  ];
  for (const [each, schema] of Object.entries(answers.$defs)) {
    if (!schema.properties) continue;
    lines.push("", `## ${each}`, "");
    if (schema.description) lines.push(schema.description, "");
    lines.push("| field | type | what it is |", "| --- | --- | --- |");
    for (const [key, inner] of Object.entries(schema.properties)) {
      const optional = schema.required?.includes(key) ? "" : ", may be absent";
      const type = typed(inner).replace(/\/\*\*.*?\*\/\n?/g, "").replace(/\s+/g, " ");
      lines.push(`| \`${key}\` | \`${cell(type)}\`${optional} | ${cell(inner.description ?? "")} |`);
    }
  }
  return lines.join("\n") + "\n";
}

const pretty = { printWidth: 110 };
const written = {
  "web/src/contract.ts": await format(typescript, { parser: "typescript", ...pretty }),
  "docs/request.schema.json": await format(JSON.stringify(requestSchema()), { parser: "json", ...pretty }),
  "docs/api.md": api(),
  "core/cli/python/plimsoll/contract.py": pythonTypes(answers.$defs),
};
let differing = 0;
for (const [path, text] of Object.entries(written)) {
  if (existsSync(path) && readFileSync(path, "utf8") === text) continue;
  differing += 1;
  if (check) console.log(`${path} is not what docs/contract.mjs writes`);
  else writeFileSync(path, text);
}
process.exit(check && differing > 0 ? 1 : 0);
