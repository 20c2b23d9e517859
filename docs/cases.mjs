// Writes the figures of docs/advice.md: the five documented cases, each beside what its author did by hand.
//
//     node docs/cases.mjs build/native/plimsoll        ./dev rebaseline does this
//
// What stands between the two markers of that page comes from here and from nowhere else.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const command = process.argv[2];
if (!command) throw new Error("Say where the plimsoll command is.");
const page = "docs/advice.md";

const run = (verb, request) =>
  JSON.parse(
    execFileSync(command, [verb, "--json", "-"], {
      input: JSON.stringify(request),
      maxBuffer: 1 << 28,
    }).toString(),
  );
const compare = (before, after) => {
  const files = [before, after].map((request, i) => {
    const path = `build/case-${i}.json`;
    writeFileSync(path, JSON.stringify(request));
    return path;
  });
  return JSON.parse(
    execFileSync(command, ["compare", "--json", ...files], { maxBuffer: 1 << 28 }).toString(),
  );
};
const scenario = (id) => JSON.parse(readFileSync(`presets/scenarios/${id}.json`, "utf8")).request;
const changed = (request, sections) => {
  const copy = structuredClone(request);
  for (const [name, fields] of Object.entries(sections)) copy[name] = { ...copy[name], ...fields };
  return copy;
};
const stage = (id, batch, accumulation, rank) =>
  changed(scenario(id), {
    training: { per_device_train_batch_size: batch, gradient_accumulation_steps: accumulation },
    peft: { r: rank, lora_alpha: 2 * rank },
  });

// The author's state before, and after what he did by hand; null where the account ends before that.
const cases = [
  ["A stage 1", stage("a-before", 8, 8, 32), stage("a-after", 4, 16, 16)],
  ["A stage 2", stage("a-before", 4, 8, 32), stage("a-after", 2, 16, 16)],
  ["A stage 3", stage("a-before", 2, 8, 8), stage("a-after", 2, 8, 8)],
  ["A base", stage("a-before", 8, 16, 32), stage("a-after", 4, 32, 16)],
  ["B", scenario("b-before"), scenario("b-after")],
  ["C", scenario("c-before"), null],
  ["D", scenario("d-before"), scenario("d-after")],
  ["E", scenario("e-before"), scenario("e-after")],
];

const gib = (bytes) => (bytes / 2 ** 30).toFixed(1);
const peak = (sizes) => `${gib(sizes.device)} (${gib(sizes.high)})`;
const words = (plan) => {
  const parts = [];
  for (const change of plan.changes) {
    const name = change.pointer.split("/").pop();
    const numbers = { per_device_train_batch_size: "batch", gradient_accumulation_steps: "accumulation" };
    const known = parts.find((part) => part.fix === change.fix);
    const value = typeof change.to === "number" ? `${numbers[name] ?? name} ${change.to}` : "";
    if (known) known.values.push(value);
    else parts.push({ fix: change.fix, title: change.title, values: [value] });
  }
  return parts
    .map(({ title, values }) => {
      const shown = values.filter(Boolean).join(", ");
      return (
        title.toLowerCase().replace(/adamw/, "AdamW").replace(/nf4/, "NF4").replace(/sdpa/, "SDPA") +
        (shown ? ` (${shown})` : "")
      );
    })
    .join("; ");
};
const cell = (plan) =>
  plan ? `${words(plan)}: ${peak(plan.peak)}, time ${plan.time_factor.toFixed(2)}` : "none";
const effective = (request) =>
  request.training.per_device_train_batch_size * request.training.gradient_accumulation_steps;

// No plan is written down that does not hold what the page says of all of them.
const keeps = (name, before, plan) => {
  if (plan.effective_batch !== effective(before))
    throw new Error(`${name}: the effective batch is not kept.`);
  const locks = (before.locks ?? []).map((lock) => `/${lock.replaceAll(".", "/")}`);
  for (const { pointer } of plan.changes)
    if (locks.some((lock) => pointer === lock || pointer.startsWith(`${lock}/`)))
      throw new Error(`${name}: ${pointer} is locked.`);
};

const rows = [];
const verdicts = [];
const kept = [];
let least = Infinity,
  most = 0,
  leastPriced = Infinity,
  mostPriced = 0;
for (const [name, before, after] of cases) {
  const advice = run("advise", before);
  const named = (reading) => advice.gpu.plans.find((plan) => plan.readings.includes(reading));
  const seconds = run("report", before).time.seconds_per_step;
  const [usual, fewest, same, fastest] = ["usual", "fewest", "same", "fastest"].map(named);
  for (const plan of [...advice.gpu.plans, ...advice.tiers.flatMap(({ plans }) => plans)])
    keeps(name, before, plan);
  kept.push(
    `${name} ${effective(before)}${before.locks?.length ? ` (locked: ${before.locks.join(", ")})` : ""}`,
  );
  let hand = "the account ends before";
  if (after) {
    const report = run("report", after);
    const { differences } = compare(before, after);
    const worth = differences
      .filter(({ device }) => Math.abs(device) >= 0.05 * 2 ** 30)
      .sort((a, b) => a.device - b.device)
      .map(({ field, device }) => `${field.split(".").pop()} ${device < 0 ? "" : "+"}${gib(device)}`);
    hand = `${peak(report.memory.peak)}, ${report.gpu.verdict}, time ${(report.time.seconds_per_step / seconds).toFixed(2)}; ${worth.join(", ")}`;
    verdicts.push(judge(name, report, differences, fewest));
  }
  rows.push(
    `| ${name}, ${advice.gpu.name}, batch ${effective(before)} | ${peak(advice.peak)}, ${advice.gpu.verdict} | ${hand} | ${cell(usual)} | ${fewest === usual ? "as usual" : cell(fewest)} | ${same === fewest ? "the same" : cell(same)} | ${fastest === fewest ? "as fewest" : fastest === same ? "as nothing learned" : cell(fastest)} |`,
  );
  least = Math.min(least, advice.search.replays);
  most = Math.max(most, advice.search.replays);
  leastPriced = Math.min(leastPriced, advice.search.priced);
  mostPriced = Math.max(mostPriced, advice.search.priced);
}

// More than was needed, less than enough, or neither.
function judge(name, report, differences, fewest) {
  const spare = gib(report.gpu.usable - report.memory.peak.high);
  // Quantization is one decision with several fields, and accumulation follows the batch.
  const decisions = differences
    .map(({ field }) => field.replace(/^quantization\..*/, "quantization"))
    .filter((field) => !/accumulation|lora_alpha|eval/.test(field));
  const fields = new Set(decisions).size;
  const needed = new Set(fewest.changes.map(({ fix }) => fix)).size;
  const learned = differences
    .map(({ field }) => field.split(".").pop())
    .filter((field) => ["r", "max_length", "target_modules"].includes(field));
  const less = learned.length > 0 ? ` Something else is learned by: ${learned.join(", ")}.` : "";
  if (report.gpu.verdict !== "fits")
    return `${name}: less than enough. The run is only ${report.gpu.verdict}.${less}`;
  if (fields > needed)
    return `${name}: more than was needed, ${fields} changes where ${needed} ${needed === 1 ? "is" : "are"} enough; ${spare} GiB are left even at the high end of the band.${less}`;
  return `${name}: as many changes as are needed.${less}`;
}

const table = [
  "| case | before | by hand, with what each change is worth in GiB | usually tried first | fewest changes | nothing learned changes | fastest |",
  "|---|---|---|---|---|---|---|",
  ...rows,
].join("\n");
const text = `${table}\n\n${verdicts.map((line) => `- ${line}`).join("\n")}\n\nThe effective batch is the one before in every plan, for the card and for all other sizes: ${kept.join(", ")}. No locked field is touched.\n\nFor all sizes together one of these cases takes ${least} to ${most} replays and ${leastPriced} to ${mostPriced} priced choices.`;
const markers = ["<!-- figures: ./dev rebaseline -->", "<!-- end of figures -->"];
const old = readFileSync(page, "utf8");
const [from, to] = markers.map((marker) => old.indexOf(marker));
if (from < 0 || to < from) throw new Error(`${page} lacks its markers.`);
writeFileSync(page, `${old.slice(0, from + markers[0].length)}\n\n${text}\n\n${old.slice(to)}`);
