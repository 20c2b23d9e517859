// What the first view of the page downloads, as a static host sends it, against its limit:
//
//     node tests/wasm/sizes.mjs build/site
//
// That is index.html and everything it names, and what those name in turn, but for modules that are fetched only on
// demand, and for the icon that only a home screen asks for: all that a browser needs until the first verdict is painted. The service worker stores the rest of the site afterwards; its size is printed. The limit holds for brotli, which
// most hosts and every browser offer; gzip, all that GitHub Pages has, is printed.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

const limit = 350_000;

/** Files that the text of one file makes the browser fetch at once. */
function* named(path) {
  const text = readFileSync(path, "utf8");
  const patterns = path.endsWith(".html")
    ? [/<(?:script|link)\b(?!\s+rel="apple-touch-icon")[^>]*?\b(?:src|href)="([^"]+)"/g]
    : [/\b(?:from|import)\s*"([^"]+\.js)"/g, /new URL\("([^"]*\bfirst-worker[^"]*\.js)",\s*import\.meta\.url\)/g, /new URL\("([^"]+\.(?:wasm|txt))",\s*import\.meta\.url\)/g];
  for (const pattern of patterns) for (const [, name] of text.matchAll(pattern)) yield join(dirname(path), name);
}

function firstLoad(path, seen = new Set()) {
  if (seen.has(path) || !existsSync(path)) return seen;
  seen.add(path);
  if (/\.(html|js)$/.test(path)) for (const next of named(path)) firstLoad(next, seen);
  return seen;
}

const site = process.argv[2];
const row = (name, ...sizes) => console.log(name.padEnd(44) + sizes.map((size) => String(size).padStart(10)).join(""));
const total = { plain: 0, gzip: 0, brotli: 0 };
const loaded = firstLoad(join(site, "index.html"));

row("", "bytes", "gzip", "brotli");
for (const path of [...loaded].sort()) {
  const bytes = readFileSync(path);
  const gzip = gzipSync(bytes, { level: 9 }).length;
  const brotli = brotliCompressSync(bytes).length;
  row(relative(site, path), bytes.length, gzip, brotli);
  total.plain += bytes.length;
  total.gzip += gzip;
  total.brotli += brotli;
}
row("total", total.plain, total.gzip, total.brotli);
const all = readdirSync(site, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .reduce((sum, entry) => sum + statSync(join(entry.parentPath ?? entry.path, entry.name)).size, 0);
console.log(`The whole site is ${all} bytes, uncompressed.`);
console.log(`${total.brotli} bytes compressed by brotli (${total.gzip} by gzip); the limit is ${limit}`);
const whole = [...loaded].some((path) => path.endsWith(".wasm")) && [...loaded].some((path) => path.endsWith(".css"));
if (!whole) console.log("The module or the style sheet is not among the files found.");
process.exit(whole && total.brotli <= limit ? 0 : 1);
