// Nothing that an example, a link or a pasted file can hold needs JSON: each field of the contract has an input of its own.
import { readdirSync, readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import type { Core } from "../../web/src/core.ts";
import type { FieldInfo, Json, JsonObject, Request } from "../../web/src/contract.ts";
import { encode } from "../../web/src/link.ts";
import { isObject, put } from "../../web/src/pointer.ts";
import { expect, headline, open, RUN, test, unfold } from "./page.ts";

/** Fields with a value, by pointer; a map is one value. */
const leaves = (tree: JsonObject, at = ""): [string, Json][] =>
  Object.entries(tree).flatMap(([key, value]): [string, Json][] =>
    isObject(value) && !["max_memory"].includes(key)
      ? leaves(value, `${at}/${key}`)
      : [[`${at}/${key}`, value]],
  );

/** Two switches of one choice; the method; what is no setting of the run. */
const NO_INPUT_OF_ITS_OWN = [
  "/training/fp16",
  "/quantization",
  "/quantization/load_in_4bit",
  "/quantization/load_in_8bit",
  "/peft",
  "/schema",
  "/want",
];

const withoutInput = (page: Page, request: Request) =>
  page.evaluate(
    (pointers) =>
      pointers.filter((pointer) => !document.getElementById(`field${pointer.replaceAll("/", "-")}`)),
    leaves(request)
      .map(([pointer]) => pointer)
      .filter((pointer) => !NO_INPUT_OF_ITS_OWN.includes(pointer)),
  );

test("every field of every example has an input", async ({ page }) => {
  for (const name of readdirSync("presets/scenarios")) {
    const { request } = JSON.parse(readFileSync(`presets/scenarios/${name}`, "utf8")) as { request: Request };
    await open(page, encode(request));
    expect(await withoutInput(page, request), name).toEqual([]);
  }
});

const fieldsOf = (page: Page): Promise<FieldInfo[]> =>
  page.evaluate(() => {
    const { core } = (document.querySelector("plimsoll-app") as unknown as { view: { core: Core } }).view;
    return [...core.fields.values()];
  });

const VALUES: Record<string, Json> = {
  count: 3,
  number: 0.5,
  flag: true,
  text: "some",
  texts: ["some", "other"],
  texts_or_text: ["some", "other"],
  text_map: { 0: "14GB", cpu: "50GB" },
};

test("every field of the contract has an input that shows its value", async ({ page }) => {
  await open(page);
  const fields = (await fieldsOf(page)).filter(({ pointer }) => pointer !== "/want");
  let request: Request = { model: "gpt2" };
  for (const { pointer, type, allowed } of fields) {
    request = put(request, pointer, VALUES[type] ?? allowed.split(", ").at(-1)!);
  }
  // What is chosen decides which inputs are in sight; a field out of place is shown all the same.
  request = put(put(request, "/task", "grpo"), "/training/fp16", false);
  await open(page, "#");
  await page.getByText("The whole request, as JSON").click();
  await page.getByLabel("Request", { exact: true }).fill(JSON.stringify(request));
  await expect(page.locator(".message")).toBeVisible();
  expect(fields.length).toBeGreaterThan(150);
  expect(await withoutInput(page, request)).toEqual([]);
  const empty = await page
    .locator(".request :is(input[type=text], select)")
    .evaluateAll((all) =>
      all
        .filter((each) => each.id.startsWith("field-") && (each as HTMLInputElement).value === "")
        .map(({ id }) => id),
    );
  // How many GPUs and so on may be open; what is in the request is not.
  const said = leaves(request).map(([pointer]) => `field${pointer.replaceAll("/", "-")}`);
  expect(empty.filter((id) => said.includes(id))).toEqual([]);
});

test("a setting is found by a part of its name, set, and left to the core again", async ({ page }) => {
  await open(page, RUN);
  await unfold(page, "Every other setting");
  const search = page.getByLabel(/Search all \d+ settings/);
  await search.fill("modules to save");
  const modules = page.getByLabel("peft.modules_to_save", { exact: true });
  await modules.fill("embed_tokens, lm_head");
  await modules.press("Enter");
  await expect(page).toHaveURL(/peft\.modules_to_save=embed_tokens,lm_head/);
  await expect(page.locator("summary", { hasText: "Every other setting" })).toContainText("modules_to_save");
  await modules.fill("");
  await modules.press("Enter");
  await expect(page).not.toHaveURL(/modules_to_save/);
  await search.fill("rank-stabilised");
  await page.getByLabel("peft.use_rslora", { exact: true }).selectOption("on");
  await expect(page).toHaveURL(/peft\.use_rslora=true/);
  await page.getByLabel("peft.use_rslora", { exact: true }).selectOption({ index: 0 });
  await expect(page).not.toHaveURL(/use_rslora/);
});

test("GRPO shows what generation needs, vLLM's share and its sleep mode; others do not", async ({ page }) => {
  await open(page, RUN);
  await unfold(page, /^\s*Task/);
  await expect(page.getByLabel("Completions per prompt")).toHaveCount(0);
  await page.getByLabel("Task", { exact: true }).selectOption("grpo");
  await page.getByLabel("Completions per prompt").fill("8");
  await page.getByLabel("Max completion length").fill("128");
  await expect(page.getByLabel("vLLM GPU memory utilization")).toHaveCount(0);
  await page.getByLabel("Generate with vLLM").check();
  await page.getByLabel("vLLM mode").selectOption("colocate");
  await page.getByLabel("vLLM GPU memory utilization").fill("0.4");
  await page.getByLabel("vLLM sleep mode").check();
  await expect(page).toHaveURL(/rl\.vllm_gpu_memory_utilization=0\.4/);
  await expect(page.locator(".message")).toHaveCount(0);
  await page.getByLabel("vLLM mode").selectOption("server");
  await expect(page.getByLabel("vLLM sleep mode")).toHaveCount(0);
});

test("the form offers every task that the core has, by its name, and asks each for what its trainer reads", async ({
  page,
}) => {
  await open(page, RUN);
  const known = (await fieldsOf(page)).find(({ pointer }) => pointer === "/task")!.allowed.split(", ");
  await unfold(page, /^\s*Task/);
  const task = page.getByLabel("Task", { exact: true });
  const offered = await task
    .locator("option")
    .evaluateAll((all) => all.map((each) => (each as HTMLOptionElement).value));
  expect(offered.sort()).toEqual(known.sort());
  await expect(task.locator("option")).toContainText([
    "SFT",
    "Pretraining",
    "Classification",
    "Reward model",
  ]);
  for (const [id, beta] of [
    ["ppo", 1],
    ["kto", 1],
    ["reward", 0],
    ["pretrain", 0],
  ] as const) {
    await task.selectOption(id);
    await expect(page.getByLabel("Beta", { exact: true }), id).toHaveCount(beta);
    await expect(page.locator(".message"), id).toHaveCount(0);
  }
});

test("sharding shows its offload, and only a model that sees asks for images", async ({ page }) => {
  await open(page, RUN);
  await unfold(page, "Sharding and offload");
  await expect(page.getByLabel("Offload parameters to CPU (FSDP)")).toHaveCount(0);
  await page.getByLabel("GPUs", { exact: true }).fill("2");
  await page.getByLabel("Shared by").selectOption("fsdp");
  await page.getByLabel("Offload parameters to CPU (FSDP)").check();
  await expect(page).toHaveURL(/offload_params=true/);
  await page.getByLabel("Shared by").selectOption("zero3");
  await page.getByLabel("ZeRO: parameters on").selectOption("cpu");
  await expect(page).toHaveURL(/offload_param\.device=cpu/);
  await expect(page.getByLabel("Images per sample", { exact: true })).toHaveCount(0);
  const model = page.getByRole("combobox", { name: "Model", exact: true });
  await model.fill("Qwen/Qwen2.5-VL-7B-Instruct");
  await model.press("Enter");
  await unfold(page, /^\s*Images/);
  await expect(page.getByLabel("Images per sample", { exact: true })).toBeVisible();
});

test("plans leave alone what a padlock holds, and each field that a fix changes has one", async ({
  page,
}) => {
  await open(page, RUN);
  await page.getByLabel("Max length", { exact: true }).fill("16384");
  await expect(headline(page)).toContainText("Does not fit");
  const locked = page.getByRole("button", { name: "Plans leave this as it is: Max length" });
  await expect(locked).toHaveAttribute("aria-pressed", "false");
  await locked.click();
  await expect(locked).toHaveAttribute("aria-pressed", "true");
  await expect(page).toHaveURL(/locks=training\.max_length,/);
  await expect(page.locator("section", { has: page.locator("#plans-title") })).toContainText(
    "Not touched: training.max_length",
  );
  await locked.click();
  await expect(page).not.toHaveURL(/locks=/);

  const source = readdirSync("core/advice/fixes")
    .map((name) => readFileSync(`core/advice/fixes/${name}`, "utf8"))
    .join("\n");
  const changed = new Set([...source.matchAll(/\{\s*"(\/[a-z_A-Z/]+)"\s*,/g)].map(([, pointer]) => pointer!));
  expect(changed.size).toBeGreaterThan(15);
  for (const pointer of changed) {
    if (
      ["/peft", "/quantization"].some(
        (section) => pointer === section || pointer.startsWith(`${section}/load`),
      )
    )
      continue;
    const release = pointer.startsWith("/versions/");
    await page.goto(`./${encode(put({ model: "gpt2" }, pointer, release ? "4.57.6" : 1))}`);
    if (release) await unfold(page, /^\s*Library and card/);
    await expect(
      page.locator(`.field:has([id="field${pointer.replaceAll("/", "-")}"]) > .lock`).first(),
      pointer,
    ).toBeAttached();
  }
});
