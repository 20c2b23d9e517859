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
const said = (command, ...args) => /(\d+(\.\d+)+)/.exec(execFileSync(command, args, { encoding: "utf8" }))[1];
const cli11 = /CLI11_VERSION "([\d.]+)"/.exec(readFileSync("/usr/include/CLI/Version.hpp", "utf8"))[1];
// The last four are in the command of the Python package alone.
const compiled = [
  ["nlohmann-json", json, "MIT"],
  ["emscripten", said("emcc", "--version"), "MIT"],
  ["CLI11", cli11, "BSD-3-Clause"],
  ["yaml-cpp", said("dpkg-query", "-W", "-f", "${Version}", "libyaml-cpp-dev"), "MIT"],
  ["libstdc++", said("c++", "-dumpfullversion"), "GPL-3.0-with-GCC-exception"],
  ["glibc", said("getconf", "GNU_LIBC_VERSION"), "LGPL-2.1-or-later"],
].map(([name, version, id]) => ({ type: "library", name, version, licenses: [{ license: { id } }] }));
const sbom = {
  bomFormat: "CycloneDX",
  specVersion: "1.5",
  version: 1,
  metadata: { component: { type: "application", name: "plimsoll", version, licenses: [{ license: { id: "MIT" } }] } },
  components: [...libraries, ...compiled].sort((one, other) => (one.name < other.name ? -1 : 1)),
};
console.log(JSON.stringify(sbom, null, 1));
