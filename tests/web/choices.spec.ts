// Clicks alone never lead to an error: every model with every method, optimizers and cards in turn, and walks of clicks from every
// example, through the functions that the page itself calls, answered by the module that the site ships.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import type {
  CoreError,
  FieldInfo,
  GpuPreset,
  Method,
  ModelPreset,
  Request,
  Scenario,
  Usual,
} from "../../web/src/contract.ts";
import { find } from "../../web/src/find.ts";
import { readNumber } from "../../web/src/read-number.ts";
import {
  ACCUMULATION,
  ADAPTERS,
  BATCH,
  CHECKPOINTING,
  chosen,
  givenWay,
  methodEdits,
  openOf,
  PRECISION,
  withUsual,
  type Edit,
} from "../../web/src/own.ts";
import { get } from "../../web/src/pointer.ts";
import type { Options, Plimsoll } from "../../wasm/plimsoll.d.ts";

const folder = resolve(process.env["PLIMSOLL_WASM"] ?? "build/wasm");

async function openCore() {
  const { default: create } = (await import(pathToFileURL(`${folder}/plimsoll.js`).href)) as {
    default: (options: Options) => Promise<Plimsoll>;
  };
  const core = await create({ wasmBinary: readFileSync(`${folder}/plimsoll.wasm`) });
  for (const name of ["first", "rest"]) {
    for (const line of readFileSync(`${folder}/${name}.txt`, "utf8").split("\n")) {
      const problem = core.add_presets(line);
      if (problem !== "") throw new Error(problem);
    }
  }
  const { fields, methods } = JSON.parse(core.fields()) as { fields: FieldInfo[]; methods: Method[] };
  const allowed = (pointer: string) =>
    fields.find((field) => field.pointer === pointer)?.allowed.split(", ") ?? [];
  return {
    models: (JSON.parse(core.models()) as { models: ModelPreset[] }).models,
    gpus: (JSON.parse(core.gpus()) as { gpus: GpuPreset[] }).gpus,
    scenarios: (JSON.parse(core.scenarios()) as { scenarios: Scenario[] }).scenarios,
    optimizers: allowed("/training/optim"),
    methods,
    usual: (request: Request) =>
      (JSON.parse(core.usual(JSON.stringify(request))) as { usual: Usual[] }).usual,
    errors: (request: Request) =>
      (JSON.parse(core.quick_report(JSON.stringify(request))) as { errors: CoreError[] }).errors,
  };
}
type Core = Awaited<ReturnType<typeof openCore>>;

interface State {
  request: Request;
  example: boolean;
  /** What nobody has said. */
  assumed?: string[];
}

/** What the page makes of choices, before anything gives way. */
function choose(core: Core, { request, example, assumed = [] }: State, edits: Edit[]) {
  const said = chosen({ request, example, assumed }, edits);
  return withUsual(said, core.usual(openOf(said)));
}

/** What the page does with one click: edits, and whatever does not go with them gives way. */
function click(core: Core, state: State, edits: Edit[]): State & { errors: CoreError[] } {
  const { request, assumed } = choose(core, state, edits);
  let next = request;
  const asked = edits.map(({ pointer }) => pointer);
  const accepts = (request: Request) => core.errors(request).length === 0;
  let errors = core.errors(next);
  while (errors.length > 0) {
    const way = givenWay(next, asked, errors, accepts);
    if (!way) break;
    next = way.request;
    errors = core.errors(next);
  }
  // Until a model is chosen, that is a question.
  const nameless = get(next, "/model") === undefined;
  return {
    request: next,
    example: false,
    assumed,
    errors: errors.filter(({ pointer }) => !nameless || pointer !== "/model"),
  };
}

const one = (pointer: string, value: string): Edit[] => [{ pointer, value }];
const pick = <Value>(list: Value[], index: number): Value => list[index % list.length]!;

/** By day a fifth of them, each day the same; ./dev test --whole: all. */
const EVERY = process.env["PLIMSOLL_WHOLE"] ? 1 : 5;

test("every model with every method, optimizers and cards in turn: no error from clicks alone", async () => {
  const core = await openCore();
  const wrong: string[] = [];
  let clicks = 0;
  let turn = 0;
  for (const model of core.models.filter((_, index) => index % EVERY === 0)) {
    for (const method of core.methods) {
      let state: State = { request: pick(core.scenarios, turn).request, example: true };
      const optimizer = pick(core.optimizers, turn);
      const gpu = pick(core.gpus, turn * 7 + 3);
      for (const edits of [
        one("/model", model.hf_id),
        methodEdits(method, undefined, undefined),
        one("/hardware/gpu", gpu.id),
        one("/training/optim", optimizer),
      ]) {
        const after = click(core, state, edits);
        clicks += 1;
        if (after.errors.length > 0) {
          wrong.push(`${model.id} ${method.id} ${gpu.id} ${optimizer}: ${after.errors[0]!.message}`);
        }
        state = after;
      }
      turn += 1;
    }
  }
  test.info().annotations.push({ type: "clicks", description: String(clicks) });
  console.log(`${clicks} clicks on ${core.models.length} models, ${wrong.length} errors`);
  expect(wrong).toEqual([]);
  expect(clicks).toBeGreaterThan(6000 / EVERY);
});

test("walks of clicks from every example that is gone on from: no error", async () => {
  const core = await openCore();
  const wrong: string[] = [];
  let clicks = 0;
  let seed = 1;
  const draw = (count: number) => {
    seed = (seed * 48271) % 2147483647;
    return seed % count;
  };
  for (let walk = 0; walk < 400 / EVERY; ++walk) {
    // "Edit this example": its own fields stay, and are what has to give way.
    let state: State = { request: pick(core.scenarios, walk).request, example: false };
    for (let step = 0; step < 8; ++step) {
      const own = state.request;
      const choices: Edit[][] = [
        one("/model", core.models[draw(core.models.length)]!.hf_id),
        methodEdits(core.methods[draw(core.methods.length)]!, own["peft"], own["quantization"]),
        one("/hardware/gpu", core.gpus[draw(core.gpus.length)]!.id),
        one("/training/optim", core.optimizers[draw(core.optimizers.length)]!),
      ];
      const edits = choices[draw(choices.length)]!;
      const after = click(core, state, edits);
      clicks += 1;
      if (after.errors.length > 0) {
        wrong.push(`${JSON.stringify(edits)} on ${JSON.stringify(own)}: ${after.errors[0]!.message}`);
        break;
      }
      state = after;
    }
  }
  console.log(`${clicks} clicks on the way, ${wrong.length} errors`);
  expect(wrong).toEqual([]);
});

test("what is filled in for nobody goes with the card, and nothing of an example stays", async () => {
  const core = await openCore();
  const example = core.scenarios.find(({ id }) => id === "d-after")!.request;
  const first = click(core, { request: example, example: true }, one("/hardware/gpu", "rtx-4090"));
  expect(first.request).toEqual({
    hardware: { gpu: "rtx-4090" },
    training: { per_device_train_batch_size: 1, bf16: true, gradient_checkpointing: true },
  });
  const turing = click(core, first, one("/hardware/gpu", "t4"));
  expect(turing.request).toMatchObject({ training: { fp16: true }, model_args: { dtype: "float32" } });
  // What a person has set stays, whatever the card.
  const own = { model: "gpt2", training: { fp16: true } };
  const kept = click(core, { request: own, example: false }, one("/hardware/gpu", "h100-sxm"));
  expect(kept.request).toMatchObject({ training: { fp16: true } });
  const bf16 = { model: "gpt2", training: { bf16: true } };
  const warned = click(core, { request: bf16, example: false }, one("/hardware/gpu", "t4"));
  expect(warned.request).toMatchObject({ training: { bf16: true } });
});

test("names are found by their parts, the nearest first", async () => {
  const { gpus, models } = await openCore();
  const cards = gpus.map(({ id, name, vendor }) => ({ value: id, name, detail: "", words: vendor }));
  for (const text of ["4090", "rtx 4090", "RTX4090", "GeForce RTX 4090"]) {
    expect(find(cards, text)[0]?.value, text).toBe("rtx-4090");
  }
  expect(find(cards, "a100 80")[0]?.name).toContain("80GB");
  expect(find(cards, "no such card")).toEqual([]);
  const names = models.map(({ id, hf_id }) => ({ value: hf_id, name: hf_id, detail: "", words: id }));
  expect(find(names, "llama 8b")[0]?.value).toBe("meta-llama/Llama-3.1-8B");
  expect(find(names, "qwen3 8b")[0]?.value).toBe("Qwen/Qwen3-8B");
  // A slip of the pen in a word is read over; a number says what it says.
  expect(find(names, "lama 3.1 8b")[0]?.value).toBe("meta-llama/Llama-3.1-8B");
  expect(find(names, "qwen 2.5 vl 7b instrct")[0]?.value).toBe("Qwen/Qwen2.5-VL-7B-Instruct");
  expect(find(names, "mistrall")[0]?.value).toContain("mistralai/Mistral-7B");
  expect(find(names, "deepsek v3")[0]?.value).toBe("deepseek-ai/DeepSeek-V3");
  expect(find(names, "llama 4.1 8b")).toEqual([]);
  expect(find(cards, "4009")).toEqual([]);
});

test("numbers are read as people write them", () => {
  const length = "/training/max_length";
  for (const [text, value] of [
    ["4k", 4096],
    ["8,192", 8192],
    ["8_192", 8192],
    ["1e4", 10000],
    ["4096", 4096],
    ["", undefined],
    ["many", "many"],
    ["-5", -5],
    ["1,5", "1,5"],
  ] as const) {
    expect(readNumber(text, length), text).toBe(value);
  }
  for (const text of ["8,192", "8.192", "8 192", "8_192"])
    expect(readNumber(text, length, "count")).toBe(8192);
  expect(readNumber("1.000.000", "/data/samples", "count")).toBe(1_000_000);
  expect(readNumber("0.125", "/peft/lora_dropout")).toBe(0.125);
  expect(readNumber("1.125", "/hardware/in_use_gib")).toBe(1.125);
  expect(readNumber("1.5", length, "count")).toBe(1.5);
  expect(readNumber("50k", "/data/samples")).toBe(50_000);
  expect(readNumber("2M", "/data/samples")).toBe(2_000_000);
});

test("checkpointing comes with a method, until somebody says it", async () => {
  const core = await openCore();
  const [, lora, qlora] = core.methods.map((method) => methodEdits(method, undefined, undefined));
  const checkpointing = (edits: Edit[], request: Request, assumed: string[]) =>
    get(choose(core, { request, example: false, assumed }, edits).request, CHECKPOINTING);
  const own: Request = { model: "mistral-7b-v0.1", training: { gradient_checkpointing: false } };
  expect(checkpointing(qlora!, { model: "mistral-7b-v0.1" }, [])).toBe(true);
  expect(checkpointing(qlora!, own, [])).toBe(false);
  const filled: Request = { model: "mistral-7b-v0.1", training: { gradient_checkpointing: true } };
  expect(checkpointing(lora!, filled, [CHECKPOINTING])).toBe(true);
  expect(checkpointing(lora!, own, [])).toBe(false);
  expect(checkpointing(lora!, { model: "google-bert/bert-base-uncased" }, [])).toBe(undefined);
});

test("an encoder comes with scores to learn, until somebody says what it learns", async () => {
  const core = await openCore();
  const task = (model: string, request: Request, assumed: string[]) =>
    get(choose(core, { request, example: false, assumed }, one("/model", model)).request, "/task");
  const named: Request = { model: "gpt2" };
  expect(task("google-bert/bert-base-uncased", named, [])).toBe("classification");
  expect(task("google-bert/bert-base-uncased", { ...named, task: "sft" }, [])).toBe("sft");
  expect(task("gpt2", { ...named, task: "classification" }, ["/task"])).toBe(undefined);
  expect(task("gpt2", named, [])).toBe(undefined);
});

test("a task comes with its library and, from the smallest micro-batch, with steps that hold a group together", async () => {
  const core = await openCore();
  const example = core.scenarios[0]!.request;
  const begun = choose(core, { request: example, example: true }, one("/model", "gpt2"));
  expect(begun.request).toEqual({
    model: "gpt2",
    training: { per_device_train_batch_size: 1, bf16: true, gradient_checkpointing: true },
  });
  const grpo = choose(core, { ...begun, example: false }, one("/task", "grpo"));
  expect(grpo.request).toMatchObject({ stack: "trl", training: { gradient_accumulation_steps: 8 } });
  expect(grpo.assumed.sort()).toEqual([ACCUMULATION, BATCH, CHECKPOINTING, ...PRECISION, "/stack"].sort());
  // What came with it goes with it.
  const sft = choose(core, { ...grpo, example: false }, one("/task", "sft"));
  expect(sft.request).toEqual({ ...begun.request, task: "sft" });
  const own = { model: "gpt2", stack: "axolotl", training: { per_device_train_batch_size: 4 } };
  const kept = choose(core, { request: own, example: false }, one("/task", "rloo"));
  expect(kept.request).toEqual({ ...own, task: "rloo" });
});

test("the adapters of the form are those that the core takes where nobody names any", async () => {
  const { usual } = await openCore();
  const targets = usual({ model: "gpt2", peft: {} }).filter(({ pointer }) => pointer.startsWith("/peft/"));
  expect(targets.map(({ pointer, value }) => [pointer, value])).toEqual([
    ["/peft/target_modules", (ADAPTERS as { target_modules: string }).target_modules],
  ]);
});
