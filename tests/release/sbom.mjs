// What the page and the packages are made of, as CycloneDX: the libraries of package-lock.json that are no tools, and what
// the core is compiled with.
//
//     node tests/release/sbom.mjs > plimsoll.cdx.json
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const version = readFileSync("VERSION", "utf8").trim();
const lock = JSON.parse(readFileSync("package-lock.json", "utf8")).packages;
const libraries = Object.entries(lock)
  .filter(([path, one]) => path !== "" && !one.dev)
  .map(([path, one]) => {
    const name = path.replace(/^.*node_modules\//, "");
    return {
      type: "library",
      name,
      version: one.version,
      purl: `pkg:npm/${name.replace("@", "%40")}@${one.version}`,
      licenses: [{ license: { id: one.license } }],
      hashes: [{ alg: "SHA-512", content: Buffer.from(one.integrity.replace("sha512-", ""), "base64").toString("hex") }],
    };
  });
const header = readFileSync("/usr/include/nlohmann/detail/abi_macros.hpp", "utf8");
const json = ["MAJOR", "MINOR", "PATCH"].map((part) => new RegExp(`NLOHMANN_JSON_VERSION_${part} (\\d+)`).exec(header)[1]).join(".");
const emcc = /(\d+\.\d+\.\d+)/.exec(execFileSync("emcc", ["--version"], { encoding: "utf8" }))[1];
const compiled = [
  { type: "library", name: "nlohmann-json", version: json, licenses: [{ license: { id: "MIT" } }] },
  { type: "library", name: "emscripten", version: emcc, licenses: [{ license: { id: "MIT" } }] },
];
const sbom = {
  bomFormat: "CycloneDX",
  specVersion: "1.5",
  version: 1,
  metadata: { component: { type: "application", name: "plimsoll", version, licenses: [{ license: { id: "MIT" } }] } },
  components: [...libraries, ...compiled].sort((one, other) => (one.name < other.name ? -1 : 1)),
};
console.log(JSON.stringify(sbom, null, 1));
