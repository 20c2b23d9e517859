// What a first visit downloads, as a static host sends it, against its budget:
//
//     node tests/wasm/sizes.mjs build/site
//
// The budget holds for brotli, which most hosts and every browser offer; gzip, all that GitHub Pages has, is printed.
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

const budget = 200_000;
const loaded = new Set([".html", ".js", ".css", ".wasm", ".svg", ".webmanifest", ".woff2"]);

function* files(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else if (loaded.has(extname(entry.name))) yield path;
  }
}

const site = process.argv[2];
const row = (name, ...sizes) => console.log(name.padEnd(44) + sizes.map((size) => String(size).padStart(10)).join(""));
const total = { plain: 0, gzip: 0, brotli: 0 };

row("", "bytes", "gzip", "brotli");
for (const path of files(site)) {
  const bytes = readFileSync(path);
  const gzip = gzipSync(bytes, { level: 9 }).length;
  const brotli = brotliCompressSync(bytes).length;
  row(relative(site, path), bytes.length, gzip, brotli);
  total.plain += bytes.length;
  total.gzip += gzip;
  total.brotli += brotli;
}
row("total", total.plain, total.gzip, total.brotli);
console.log(`${total.brotli} bytes compressed by brotli (${total.gzip} by gzip); the budget is ${budget}`);
process.exit(total.plain > 0 && total.brotli <= budget ? 0 : 1);
