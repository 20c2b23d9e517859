// How far the replay lies from what the real trainers' steps allocate, by what a request says:
//
//     node tests/measured/trainer_table.mjs build/native/plimsoll            prints the table
//     node tests/measured/trainer_table.mjs build/native/plimsoll --each     a line a step, farthest first
//     node tests/measured/trainer_table.mjs build/native/plimsoll --write    writes it into tests/measured/README.md
//
// The steps are those of tests/core/golden/trainer_steps*.json, compared as tests/core/memory/trainer_steps_test.cpp does.
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";

const [command = "build/native/plimsoll", flag] = process.argv.slice(2);
const folder = "tests/core/golden";
const document = "tests/measured/README.md";
const begin = "<!-- groups: node tests/measured/trainer_table.mjs build/native/plimsoll --write -->\n";
const end = "<!-- end of groups -->\n";
const FEW = 5; // steps that make a row of their own
const WORKSPACES = 2 * 8519680; // of cuBLAS, which fake tensors do not have

function cases() {
  const files = readdirSync(folder).filter((file) => /^trainer_steps.*\.json$/.test(file));
  return files.flatMap((file) => {
    const { seed, cases } = JSON.parse(readFileSync(`${folder}/${file}`, "utf8"));
    const set = file.match(/encoders|scans|sinks|tied|tokens/)?.[0] ?? `seed ${seed}`;
    return cases.filter(({ seen }) => seen).map((one) => ({ ...one, set }));
  });
}

function answers(all) {
  const lines = all.map(({ request }) => {
    const vision = request.vision && { vision: { ...request.vision, max_tiles: 1 } };
    return `${JSON.stringify({ ...request, ...vision, want: [] })}\n`;
  });
  const text = execFileSync(command, ["report", "--lines"], { input: lines.join(""), encoding: "utf8", maxBuffer: 2 ** 30 });
  return text.trim().split("\n").map((line) => JSON.parse(line));
}

/** The highest of what a step and an evaluation hold; loading, generation and the scoring of completions are not run. */
function priced({ memory }, task) {
  const left = ["load", "prepare", "generate", ...(task === "grpo" || task === "rloo" ? ["score"] : [])];
  return Math.max(...memory.instants.filter(({ id }) => !left.includes(id)).map(({ allocated }) => allocated));
}

function measured(seen) {
  return WORKSPACES + Math.max(...["forward", "backward", "optimizer", "eval"].map((phase) => seen[phase] ?? 0));
}

/** The band is that of the report's peak, drawn around what is compared. */
function compared(one, report) {
  const now = priced(report, one.request.task);
  const then = measured(one.seen);
  const { allocated, allocated_low: low, allocated_high: high } = report.memory.peak;
  const outside = then < (now * low) / allocated || then > (now * high) / allocated;
  return { ...one, error: now / then - 1, outside };
}

function tuner({ peft }) {
  if (!peft) return "full";
  if (peft.num_trainable_tokens || peft.trainable_token_indices) return "LoRA, trained tokens";
  if (peft.peft_type) return peft.peft_type.toLowerCase().replace("_", " ");
  if (peft.modules_to_save) return "LoRA, modules_to_save";
  return `${peft.use_dora ? "DoRA" : "LoRA"}${peft.lora_dropout > 0 ? ", dropout" : ""}`;
}

function checkpoints({ gradient_checkpointing: on, gradient_checkpointing_kwargs: how }) {
  if (!on) return "none";
  return how?.use_reentrant === false ? "non-reentrant" : "reentrant";
}

function rows({ packing, padded_batches: padded }) {
  if (packing) return "packed";
  return padded ? "padded" : "of one length";
}

const GROUPS = {
  set: ({ set }) => set,
  task: ({ request }) => `${request.stack} ${request.task}`,
  tuner: ({ request }) => tuner(request),
  types: ({ request: { model_args, training } }) => `${model_args.dtype}${training.bf16 ? ", autocast" : ""}`,
  checkpoints: ({ request }) => checkpoints(request.training),
  attention: ({ request }) => request.model_args.attn_implementation,
  rows: ({ request }) => rows(request.training),
  evaluated: ({ request }) => (request.training.eval_strategy === "no" ? "no" : "yes"),
  optimizer: ({ request }) => request.training.optim,
  family: ({ request }) => request.model.config.model_type,
};

const percent = (share) => `${(100 * share).toFixed(2)} %`;
const signed = (share) => `${share > 0 ? "+" : ""}${percent(share)}`;

function row(kind, name, steps) {
  const sizes = steps.map(({ error }) => Math.abs(error)).sort((a, b) => a - b);
  const of = (share) => sizes[Math.min(sizes.length - 1, Math.floor(sizes.length * share))];
  const worst = steps.find(({ error }) => Math.abs(error) === sizes.at(-1)).error;
  const outside = steps.filter((one) => one.outside).length;
  return `| ${kind} | ${name} | ${steps.length} | ${percent(of(0.5))} | ${percent(of(0.95))} | ${signed(worst)} | ${outside} |`;
}

function table(steps) {
  const lines = ["| by | group | steps | median | 95 % within | farthest | outside the band |", "| --- | --- | --- | --- | --- | --- | --- |"];
  lines.push(row("all", "", steps));
  for (const [kind, name] of Object.entries(GROUPS)) {
    const groups = new Map();
    for (const one of steps) groups.set(name(one), [...(groups.get(name(one)) ?? []), one]);
    const few = [...groups].filter(([, some]) => some.length < FEW);
    for (const [key] of few) groups.delete(key);
    const byName = [...groups].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
    for (const [key, some] of byName) lines.push(row(kind, key, some));
    if (few.length > 0) lines.push(row(kind, "others", few.flatMap(([, some]) => some)));
  }
  return `${lines.join("\n")}\n`;
}

const all = cases();
const reports = answers(all);
const steps = all.map((one, i) => compared(one, reports[i]));
if (flag === "--each") {
  steps.sort((a, b) => Math.abs(b.error) - Math.abs(a.error));
  for (const one of steps) console.log(`${signed(one.error)} ${one.outside ? "outside" : ""} ${one.set}, ${one.name}`);
} else if (flag === "--write") {
  const text = readFileSync(document, "utf8");
  const from = text.indexOf(begin) + begin.length;
  const to = text.indexOf(end);
  if (from < begin.length || to < 0) throw new Error(`${document} has no place for the groups.`);
  writeFileSync(document, text.slice(0, from) + table(steps) + text.slice(to));
} else console.log(table(steps));
