// The one box: configurations and error messages, typed, dropped and picked.
import type { Page } from "@playwright/test";
import { encode } from "../../web/src/link.ts";
import { box, expect, headline, open, paste, RUN, test, UNKNOWN_MODEL } from "./page.ts";

const AXOLOTL = `# my run
base_model: mistralai/Mistral-7B-v0.1   # the base
load_in_4bit: true
adapter: qlora
sequence_len: 2_048
micro_batch_size: 2
gradient_accumulation_steps: 4
lora_r: 32
lora_target_modules: [q_proj, v_proj]
optimizer: paged_adamw_8bit
wandb_project: nothing
no_such_key_anywhere: 1
`;
const ERROR =
  "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB (GPU 0; 22.20 GiB total capacity; 20.90 GiB already allocated; 100.12 MiB free; 21.10 GiB reserved in total by PyTorch)";

async function drop(page: Page, name: string, text: string): Promise<void> {
  const transfer = await page.evaluateHandle(
    ([name, text]) => {
      const data = new DataTransfer();
      data.items.add(new File([text], name, { type: "application/yaml" }));
      return data;
    },
    [name, text] as const,
  );
  await page.dispatchEvent("main", "drop", { dataTransfer: transfer });
}

test("pasting is one action: the file is the request, and the box a chip with a word on every key", async ({
  page,
}) => {
  await open(page);
  await paste(page, AXOLOTL);
  const found = page.locator(".found");
  await expect(found.locator("h2")).toHaveText("Axolotl · 11 keys");
  await expect(found).toContainText("1 unknown");
  await expect(box(page)).toHaveCount(0);
  await found.locator("summary", { hasText: "keys" }).click();
  await expect(found.locator("tr", { hasText: "no_such_key_anywhere" })).toContainText("unknown");
  await expect(page.getByLabel("Max length", { exact: true })).toHaveValue("2048");
  await expect(page.getByLabel("Rank", { exact: true })).toHaveValue("32");
  await expect(page).toHaveURL(/model=mistralai\/Mistral-7B-v0\.1/);
  // Nothing of the example: no card, no data set.
  await expect(headline(page)).toContainText("Needs");
  await expect(page.locator(".ask")).toContainText("Which GPU?");
  expect(page.url()).not.toMatch(/gpu=|samples|fp16/);
  await found.getByRole("button", { name: "change" }).click();
  await expect(box(page)).toHaveValue(AXOLOTL);
});

test("what was pasted is undone with one click, back to the example where that was shown", async ({
  page,
}) => {
  await open(page);
  await paste(page, AXOLOTL);
  await expect(page.getByLabel("Max length", { exact: true })).toHaveValue("2048");
  await page.locator(".found").getByRole("button", { name: "undo" }).click();
  await expect(page.locator("plimsoll-app .shown")).toContainText("Example: ");
  await expect(headline(page)).toContainText("A10G");
});

test("a file for several cards is not answered for one", async ({ page }) => {
  await open(page);
  await paste(page, `${AXOLOTL.replace("Mistral-7B-v0.1", "Mistral-7B-v0.1")}fsdp: [full_shard]\n`);
  await page.locator(".ask button", { hasText: "RTX 3090" }).click();
  await expect(page.locator(".ask")).toContainText("How many GPUs?");
  await expect(headline(page)).toContainText("Needs");
  await page.locator(".ask").getByRole("button", { name: "2", exact: true }).click();
  await expect(headline(page)).toContainText(/2.× GeForce RTX 3090 24GB, FSDP/);
});

test("a bare config.json changes the model alone", async ({ page }) => {
  await open(page, RUN);
  await paste(page, JSON.stringify(UNKNOWN_MODEL));
  await expect(page).toHaveURL(/model\.config\.hidden_size=2048/);
  await expect(page.getByLabel("LoRA, 16-bit", { exact: true })).toBeChecked();
  await expect(page.getByLabel("Max length", { exact: true })).toHaveValue("256");
  await expect(headline(page)).toContainText("Fits the A10G");
});

const QLORA = encode({
  model: "Qwen/Qwen3-8B",
  peft: { target_modules: "all-linear" },
  quantization: { load_in_4bit: true },
  training: { bf16: true, per_device_train_batch_size: 1, max_length: 2048, gradient_checkpointing: true },
  hardware: { gpu: "rtx-4090" },
});

for (const base of ["Qwen/Qwen3-8B", "mistralai/Mistral-7B-v0.3"]) {
  test(`an adapter_config.json over a run changes its adapters and its base, and nothing else: ${base}`, async ({
    page,
  }) => {
    await open(page, QLORA);
    await paste(
      page,
      JSON.stringify({
        base_model_name_or_path: base,
        peft_type: "LORA",
        r: 64,
        lora_alpha: 16,
        target_modules: ["q_proj", "v_proj"],
        bias: "none",
        task_type: "CAUSAL_LM",
      }),
    );
    await expect(page.locator(".found h2")).toContainText("adapter_config.json");
    await expect(page.getByLabel("Rank", { exact: true })).toHaveValue("64");
    await expect(page).toHaveURL(new RegExp(`model=${base}&`));
    await expect(page).toHaveURL(/bf16=true.*load_in_4bit=true|load_in_4bit=true.*bf16=true/);
    await expect(page.getByLabel("Max length", { exact: true })).toHaveValue("2048");
    await expect(headline(page)).toContainText("Fits the GeForce RTX 4090");
  });
}

for (const [words, model] of [
  ["mistralai/Mistral-7B-v0.3", "mistralai/Mistral-7B-v0.3"],
  ["https://huggingface.co/Qwen/Qwen3-14B", "Qwen/Qwen3-14B"],
]) {
  test(`a model's name alone over a run chooses the model and keeps the rest: ${words}`, async ({ page }) => {
    await open(page, QLORA);
    await paste(page, `${words}\n`);
    await expect(page).toHaveURL(new RegExp(`model=${model}&`));
    await expect(page.getByLabel("QLoRA, NF4", { exact: true })).toBeChecked();
    await expect(page.getByLabel("Max length", { exact: true })).toHaveValue("2048");
    await expect(headline(page)).toContainText("the GeForce RTX 4090");
    await expect(page.locator(".complaint")).toHaveCount(0);
    await page.locator(".found").getByRole("button", { name: "undo" }).click();
    await expect(page).toHaveURL(/model=Qwen\/Qwen3-8B&/);
  });
}

for (const [words, url] of [
  ["RTX 3090", /gpu=rtx-3090/],
  ["make it 8k tokens", /max_length=8192/],
] as const) {
  test(`words that change a run are not said to hold none: ${words}`, async ({ page }) => {
    await open(page, QLORA);
    await paste(page, words);
    await expect(page).toHaveURL(url);
    await expect(page.locator(".found")).toContainText(words);
    await expect(page.locator(".complaint")).toHaveCount(0);
  });
}

test("what is typed leaves the example as it is read, and the box stays; one step back leads to the example", async ({
  page,
}) => {
  await open(page);
  await box(page).pressSequentially("qlora of llama 3.1 8b on a 3090 at 2048 tokens");
  await expect(headline(page)).toContainText("Fits the GeForce RTX 3090");
  await expect(page.locator("plimsoll-app .shown")).not.toContainText("Example: ");
  await expect(box(page)).toBeFocused();
  await expect(page.locator(".found")).toHaveCount(0);
  await box(page).fill("qlora of llama 3.1 8b on a 4090 at 2048 tokens");
  await expect(headline(page)).toContainText("Fits the GeForce RTX 4090");
  await expect(page).toHaveURL(/rtx-4090/);
  await page.goBack();
  await expect(page.locator("plimsoll-app .shown")).toContainText("Example: ");
  // What has been set since is not overwritten by a key.
  await page.goForward();
  await page.getByLabel("LoRA, 16-bit", { exact: true }).check();
  await box(page).fill("qlora of llama 3.1 8b on a t4 at 2048 tokens");
  await expect(page.getByRole("button", { name: "Use this configuration" })).toBeVisible();
  await expect(headline(page)).toContainText("RTX 4090");
});

test("what is typed over a run of one's own waits for its button", async ({ page }) => {
  await open(page, RUN);
  await box(page).fill(AXOLOTL);
  await expect(page.locator(".found")).toContainText("Axolotl");
  await expect(page.getByLabel("Max length", { exact: true })).toHaveValue("256");
  await page.getByRole("button", { name: "Use this configuration" }).click();
  await expect(page.getByLabel("Max length", { exact: true })).toHaveValue("2048");
});

test("a config.json begins a run like a model of the list: with a micro-batch of 1, in bf16", async ({
  page,
}) => {
  await open(page);
  await paste(page, JSON.stringify(UNKNOWN_MODEL));
  await expect(page).toHaveURL(/training\.bf16=true&training\.per_device_train_batch_size=1/);
  await expect(page.locator(".ask").first()).toContainText("Which GPU?");
});

test("what the page itself has given away is read back: a link is the run, a table says what it is", async ({
  page,
}) => {
  await open(page);
  await paste(page, `see https://example.org/plimsoll/${encode({ model: "gpt2", hardware: { gpu: "l4" } })}`);
  await expect(page.getByLabel("Model", { exact: true })).toHaveValue("gpt2");
  await expect(page.locator("#asked-title")).toHaveText("A link");
  await page.locator(".found").getByRole("button", { name: "undo" }).click();
  await paste(page, 'instant,component,bytes,what,formula,source\r\nload,weights,14,"Weights, all",,\r\n');
  await expect(page.locator(".paste .complaint")).toContainText("a table that Plimsoll made");
  await expect(page.locator(".found")).toHaveCount(0);
});

test("a bare error is not explained by the example", async ({ page }) => {
  await open(page);
  await paste(page, ERROR);
  await expect(page.locator(".found")).toContainText("224.0 MiB");
  expect(await page.locator(".found").innerText()).not.toMatch(/Mistral|settings on this page/);
});

test("a dropped file is read like a pasted one", async ({ page }) => {
  await open(page);
  await drop(page, "qlora.yaml", AXOLOTL);
  await expect(page.locator(".found")).toContainText("Axolotl");
});

test("a picked file is read like a pasted one", async ({ page }) => {
  await open(page);
  await page.getByLabel("Choose a file").setInputFiles({
    name: "adapter_config.json",
    mimeType: "application/json",
    buffer: Buffer.from(
      '{"peft_type": "LORA", "r": 8, "lora_alpha": 16, "target_modules": ["q_proj", "v_proj"]}',
    ),
  });
  await expect(page.locator(".found h2")).toContainText("PEFT");
  await expect(page).toHaveURL(/peft\.r=8/);
});

test("the error of case D is explained: one fp32 matrix", async ({ page }) => {
  await open(page, encode({ model: "mistral-7b-v0.3", peft: { r: 16 }, hardware: { gpu: "a10g" } }));
  await box(page).fill(ERROR);
  const found = page.locator(".found");
  await expect(found).toContainText("224.0 MiB");
  await expect(found).toContainText(/14336 x 4096|4096 x 14336/);
  await expect(found.locator(".likeliest")).toContainText("fp32");
  await expect(found.locator("ol > li").first()).toContainText("fp32");
  await expect(found.locator("ol")).toBeHidden();
});

test("the plan beside an explained error is applied with one click, and written into the file it came with", async ({
  page,
}) => {
  await open(page);
  const file = AXOLOTL.replace("sequence_len: 2_048", "sequence_len: 16384");
  await paste(page, `${file}\n${ERROR}\n`);
  const way = page.locator(".way");
  await expect(way).toContainText("GiB");
  await way.getByRole("button", { name: "Apply" }).click();
  await expect(page.locator(".patched")).toContainText("Changed lines: ");
});

test("text that is neither says so, and hostile text harms nothing", async ({ page }) => {
  await open(page);
  for (const text of [
    "Dear all, the meeting is at noon.",
    "[".repeat(10_000),
    "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: &d [*c,*c]\ne: &e [*d,*d]\nf: &f [*e,*e]",
    '{"__proto__": {"polluted": true}}',
    "<img src=x onerror=alert(1)>",
  ]) {
    await box(page).fill(text);
    await expect(page.locator(".paste .complaint, .paste .found")).toBeVisible();
  }
  expect(await page.evaluate(() => "polluted" in {})).toBe(false);
  expect(await page.locator("img").count()).toBe(0);
});

test("an issue with its file between prose and error is read as both", async ({ page }) => {
  await open(page);
  await box(page).fill(
    `Two days now, please help. This is my file:\n\n${AXOLOTL}\nand this is what I get\n\n${ERROR}\n`,
  );
  await expect(page.locator(".found", { hasText: "Axolotl" })).toContainText("1 unknown");
  await expect(page.locator(".found", { hasText: "224.0 MiB" })).toBeVisible();
  await expect(page.getByLabel("Max length", { exact: true })).toHaveValue("2048");
});

test("what changes on the page is written back into the pasted file", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page);
  await box(page).fill(AXOLOTL);
  await expect(page.getByLabel("Max length", { exact: true })).toHaveValue("2048");
  await expect(page.locator(".patched")).toHaveCount(0);
  await page.getByLabel("Max length", { exact: true }).fill("1024");
  const patched = page.locator(".patched");
  await expect(patched.locator(".gone")).toHaveText(["sequence_len: 2_048\n".replace(/^/, "-")]);
  await expect(patched.locator(".added")).toHaveText(["+sequence_len: 1024\n"]);
  await patched.getByRole("button", { name: "Copy the file" }).click();
  await expect(patched.locator(".told")).toContainText("Done");
  const text = await page.evaluate(() => navigator.clipboard.readText());
  expect(text).toBe(AXOLOTL.replace("2_048", "1024"));
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    patched.getByRole("button", { name: "Download the file" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("plimsoll-config.txt");
});

test("a dropped file keeps its name; what it cannot say is listed", async ({ page }) => {
  await open(page);
  await drop(page, "qlora.yaml", AXOLOTL);
  await expect(page.getByLabel("Max length", { exact: true })).toHaveValue("2048");
  await page.getByLabel("Max length", { exact: true }).fill("512");
  const patched = page.locator(".patched");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    patched.getByRole("button", { name: "Download the file" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("qlora.yaml");
});

const DPO = "DPO on mistral 7b, lora r=16, rtx 4090, batch size 2, 4k context";

test("the answer to typed words goes with their run: of another run nothing old is offered, but the way back", async ({
  page,
}) => {
  await open(page);
  await box(page).fill(DPO);
  await expect(headline(page)).toContainText("Does not fit the GeForce RTX 4090");
  const found = page.locator("plimsoll-paste .found");
  await page.getByLabel("QLoRA, NF4", { exact: true }).check();
  await expect(headline(page)).toContainText("Fits the GeForce RTX 4090");
  const back = found.getByRole("button", { name: "Back to the run in these words" });
  await expect(back).toHaveClass("quiet");
  await expect(page.locator("plimsoll-paste")).not.toContainText("does not fit");
  await expect(page.locator("plimsoll-paste .apply")).toHaveCount(0);
  await back.click();
  await expect(page.getByLabel("LoRA, 16-bit", { exact: true })).toBeChecked();
  await expect(headline(page)).toContainText("Does not fit the GeForce RTX 4090");
});

test("what was typed as a file is offered again only once another run is shown, and then as the way back", async ({
  page,
}) => {
  await open(page);
  await box(page).fill(`${AXOLOTL}gradient_checkpointing: false\n`);
  await expect(page.locator(".found")).toContainText("Axolotl");
  const found = page.locator("plimsoll-paste .found");
  // An answer to what the file leaves open is no other run.
  await page.locator(".ask").getByRole("button", { name: "T4 16GB" }).click();
  await expect(headline(page)).toContainText("T4");
  await expect(found.getByRole("button")).toHaveCount(0);
  await page.getByLabel("Micro-batch", { exact: true }).fill("64");
  const back = found.getByRole("button", { name: "Back to the pasted configuration" });
  await expect(back).toHaveClass("quiet");
  await expect(headline(page)).toContainText("Does not fit");
  await page.locator(".ways:not(.stale) .apply").first().click();
  await expect(headline(page)).toContainText(/Fits|Tight/);
  await expect(page.getByRole("button", { name: "Use this configuration" })).toHaveCount(0);
  await back.click();
  await expect(page.getByLabel("Micro-batch", { exact: true })).toHaveValue("2");
  await expect(headline(page)).toContainText("T4");
});

test("changes that get past a failure are offered once: of the run that was pasted, and not after they were applied", async ({
  page,
}) => {
  await open(page);
  await paste(page, `${AXOLOTL.replace("micro_batch_size: 2", "micro_batch_size: 16")}\n${ERROR}`);
  const way = page.locator("plimsoll-paste .way");
  await expect(way).toBeAttached();
  await way.getByRole("button", { name: "Apply" }).click();
  await expect(way).toHaveCount(0);
  await expect(page.locator("#diagnosis-title")).toBeAttached();
});
