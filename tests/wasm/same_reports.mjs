// The command and both modules must give the same bytes for the same request:
//
//     node tests/wasm/same_reports.mjs [build/native/plimsoll] [build/wasm]
//
// Every scenario, every model under three recipes, every GPU, many recipes of one model, requests drawn from the whole
// contract (tests/drawn), and bad input.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const command = resolve(process.argv[2] ?? "build/native/plimsoll");
const folder = resolve(process.argv[3] ?? "build/wasm");

async function open(name) {
  const { default: create } = await import(pathToFileURL(`${folder}/${name}.js`).href);
  const module = await create({ wasmBinary: readFileSync(`${folder}/${name}.wasm`) });
  for (const file of ["first.txt", "rest.txt"]) {
    const problem = module.add_presets(readFileSync(`${folder}/${file}`, "utf8"));
    if (problem !== "") throw new Error(problem);
  }
  return module;
}
const first = await open("plimsoll");
const plimsoll = await open("plimsoll_more");

const { models } = JSON.parse(plimsoll.models());
const { gpus } = JSON.parse(plimsoll.gpus());
const { scenarios } = JSON.parse(first.scenarios());

const full = { training: { bf16: true, optim: "adamw_torch_fused" } };
const lora = { model_args: { dtype: "bfloat16" }, peft: { r: 16, target_modules: "all-linear" } };
const qlora = {
  quantization: { load_in_4bit: true, bnb_4bit_quant_type: "nf4", bnb_4bit_use_double_quant: true },
  peft: { r: 64, target_modules: ["q_proj", "v_proj"] },
  training: { gradient_checkpointing: true, optim: "paged_adamw_8bit" },
};
const combine = (lists) =>
  lists.reduce((rows, list) => rows.flatMap((row) => list.map((item) => [...row, item])), [[]]);

const good = [
  ...scenarios.map(({ request }) => request),
  ...models.flatMap(({ id }) => [full, lora, qlora].map((recipe) => ({ model: id, ...recipe }))),
  ...gpus.map(({ id }) => ({ model: "mistral-7b-v0.3", ...qlora, hardware: { gpu: id } })),
  ...combine([
    ["adamw_torch", "adamw_8bit", "sgd", "adafactor", "lion_32bit"],
    [true, false],
    ["sdpa", "flash_attention_2", "eager"],
    [1, 7],
    [511, 4096],
  ]).map(([optim, gradient_checkpointing, attn_implementation, per_device_train_batch_size, max_length]) => ({
    model: "mistral-7b-v0.3",
    ...lora,
    model_args: { attn_implementation },
    training: { optim, gradient_checkpointing, per_device_train_batch_size, max_length },
  })),
];
const drawn = spawnSync(resolve("build/native/plimsoll_drawn"), ["--gtest_filter=Requests*"], {
  encoding: "utf8",
  env: { ...process.env, PRINT: process.env["DRAWS"] ?? "400" },
  maxBuffer: 2 ** 30,
}).stdout;
const quick = []; // pairs of a request and what the command's own core answers quickly
for (const [, request, answer] of drawn.matchAll(/^request (.*)\nquick (.*)$/gm)) {
  good.push(JSON.parse(request));
  quick.push([request, answer]);
}

const bad = [
  "",
  "{",
  "null",
  "[]",
  "7",
  "{}",
  '{"model": "no-such-model"}',
  '{"model": "mistral-7b-v0.3", "mode": 1}',
  '{"model": "mistral-7b-v0.3", "model": "mistral-7b-v0.3"}',
  '{"model": "mistral-7b-v0.3", "peft": {"r": -1}}',
  '{"model": "mistral-7b-v0.3", "peft": {"r": 1.5}}',
  '{"model": "mistral-7b-v0.3", "training": {"max_length": 1e300}}',
  '{"model": "mistral-7b-v0.3", "training": {"max_length": 18446744073709551616}}',
  '{"model": {"config": {"model_type": "llama"}}}',
  '{"model": "\\u00fc\\ud83d\\ude00 \u00fc"}',
];
const requests = [...good.map((request) => JSON.stringify(request)), ...bad];

const native = spawnSync(command, ["report", "--lines"], {
  input: requests.map((request) => `${request}\n`).join(""),
  encoding: "utf8",
  maxBuffer: 2 ** 30,
});
const lines = native.stdout.split("\n");

let passed = 0;
let failed = 0;
function compare(what, ofCommand, ofModule) {
  if (ofCommand === ofModule) {
    passed += 1;
    return;
  }
  failed += 1;
  if (failed > 5) return;
  const at = [...ofModule].findIndex((character, index) => character !== ofCommand?.[index]);
  console.log(`${what}\n  command: …${ofCommand?.slice(Math.max(0, at - 60), at + 60)}`);
  console.log(`  module:  …${ofModule.slice(Math.max(0, at - 60), at + 60)}`);
}

// Of a refused request the command prints the errors alone.
function as_line(report) {
  const { ok, errors } = JSON.parse(report);
  return ok ? report : JSON.stringify({ schema: 1, ok, errors });
}
requests.forEach((request, index) => compare(request, lines[index], as_line(plimsoll.report(request))));
for (const [request, answer] of quick) compare(request, answer, first.quick_report(request));
console.log(`${quick.length} reports of the first module were compared.`);
for (const list of ["models", "gpus"]) {
  const output = spawnSync(command, [list, "--json"], { encoding: "utf8", maxBuffer: 2 ** 30 }).stdout;
  compare(`plimsoll ${list}`, output.trimEnd(), plimsoll[list]());
}
// A module has no exceptions: what the command catches ends it. Published messages, and runs that are told in words.
const told = [
  "QLoRA of Llama-3.1-8B, batch 4, length 4096: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 7.83 GiB.",
  "LoRA of Qwen2.5-VL-7B on an A100 80GB at 4k",
  "QLoRA of Llama 3.1 8B, batch 4, 4096 tokens, RTX 4090. I can't use Liger.",
  "Full fine-tuning of Qwen3-8B worked with transformers 4.50 on an H100, since 4.54 it runs out of memory",
  "largest batch for QLoRA of Llama 3.1 8B on a 4090 at 2048 tokens",
];
const messages = JSON.parse(readFileSync("tests/oom/messages.json", "utf8"));
const texts = [
  ...told,
  ...messages.filter((_, index) => index % 8 === 0).map(({ error_text }) => error_text),
];
// Without a request the command looks for one in the text first; the page does that in parts, with calls of its own.
const empty = join(mkdtempSync(join(tmpdir(), "plimsoll-")), "request.json");
writeFileSync(empty, "{}");
for (const text of texts) {
  const output = spawnSync(command, ["diagnose", "-", "--request", empty], {
    input: text,
    encoding: "utf8",
    maxBuffer: 2 ** 30,
  }).stdout;
  compare(`diagnosis of ${text.slice(0, 60)}`, output.trimEnd(), plimsoll.diagnose(text, "{}", ""));
}
console.log(`${texts.length} diagnoses were compared.`);
// A list of requests that are all refused would compare equal and show nothing.
const answered = good.filter((request) => JSON.parse(plimsoll.report(JSON.stringify(request))).ok).length;
if (answered < good.length * 0.75) {
  failed += 1;
  console.log(`Only ${answered} of ${good.length} good requests got a report.`);
}
console.log(`${passed} passed, ${failed} failed, ${answered} of ${good.length} good requests answered`);
process.exit(failed === 0 ? 0 : 1);
