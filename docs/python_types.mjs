// The contract as types of Python, from core/report/contract.schema.json: docs/contract.mjs writes them.
//
//     pythonTypes(schema.$defs)      // "class Note(_Note, total=False): ..."

const last = (reference) => reference.split("/").at(-1);
const NAMES = { string: "str", number: "float", integer: "int", boolean: "bool", null: "None", object: "JsonObject" };
/** No attribute of a class may be called so. */
const KEYWORDS = new Set(["from", "in", "is", "as", "with", "class", "for", "if", "or", "and", "not"]);
/** What Python says in a way of its own. */
const OWN = { Json: "Any", JsonObject: "Dict[str, Any]", Request: "Dict[str, Any]", Range: "Tuple[float, float]" };

/** `inner`: gathers objects that have no name of their own, under that of who holds them. */
function typed(schema, name, inner) {
  if (schema.$ref) return last(schema.$ref);
  if (schema.enum) return `Literal[${schema.enum.map((word) => JSON.stringify(word)).join(", ")}]`;
  if ("const" in schema) return `Literal[${schema.const === true ? "True" : schema.const === false ? "False" : JSON.stringify(schema.const)}]`;
  if (schema.anyOf) return `Union[${schema.anyOf.map((one) => typed(one, name, inner)).join(", ")}]`;
  if (Array.isArray(schema.type)) return `Union[${schema.type.map((one) => NAMES[one]).join(", ")}]`;
  if (schema.prefixItems) return `Tuple[${schema.prefixItems.map((one) => typed(one, name, inner)).join(", ")}]`;
  if (schema.type === "array") return `List[${typed(schema.items, name, inner)}]`;
  if (schema.properties) {
    inner.push(...classes(name, schema));
    return name;
  }
  if (schema.additionalProperties) return `Dict[str, ${typed(schema.additionalProperties, name, inner)}]`;
  return NAMES[schema.type] ?? "Json";
}

const capital = (word) => word.replace(/(^|_)(\w)/g, (_, __, letter) => letter.toUpperCase());

/** A class for what is always there, and one on top of it for what may be absent. */
function classes(name, { properties, required = [], description }) {
  const inner = [];
  const line = ([key, each]) => [key, typed(each, name + capital(key), inner), each.description];
  const members = Object.entries(properties).map(line);
  const [always, absent] = [true, false].map((there) => members.filter(([key]) => required.includes(key) === there));
  const words = description ? [`    """${description}"""`, ""] : [];
  if (members.some(([key]) => KEYWORDS.has(key))) {
    const part = (of) => `{${of.map(([key, type]) => `"${key}": "${type.replaceAll('"', "'")}"`).join(", ")}}`;
    const held = absent.length === 0 ? [] : [`class ${name}(_${name}, total=False):`, ...absent.map(member), "", ""];
    return [...inner, `${absent.length === 0 ? name : `_${name}`} = TypedDict("${absent.length === 0 ? name : `_${name}`}", ${part(always)})`, "", "", ...held];
  }
  if (absent.length === 0 || always.length === 0) {
    const head = always.length === 0 ? `class ${name}(TypedDict, total=False):` : `class ${name}(TypedDict):`;
    return [...inner, head, ...words, ...members.map(member), "", ""];
  }
  return [
    ...inner,
    `class _${name}(TypedDict):`,
    ...always.map(member),
    "",
    "",
    `class ${name}(_${name}, total=False):`,
    ...words,
    ...absent.map(member),
    "",
    "",
  ];
}

const member = ([key, type, what]) => `${what ? `    #: ${what}\n` : ""}    ${key}: ${type}`;

export function pythonTypes(definitions) {
  const lines = Object.entries(definitions).flatMap(([name, schema]) => {
    if (schema.properties && !(name in OWN)) return classes(name, schema);
    const inner = [];
    const alias = `${name} = ${OWN[name] ?? typed(schema, name, inner)}`;
    return [...inner, ...(schema.description ? [`#: ${schema.description}`] : []), alias, "", ""];
  });
  return `"""The request and the answers as types. Written by docs/contract.mjs from core/report/contract.schema.json: change it there.

Sizes are bytes, exact up to 2^53. Only type checkers read these: an answer is a dict.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Tuple, TypedDict, Union

${lines.join("\n").trimEnd()}
`;
}
