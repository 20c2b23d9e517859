// The five documented cases, walked as their authors would: from opening the page to a request that fits, its link copied.
// Every click, choice and typed or pasted text is one action; docs/actions.md has the counts.
import type { Locator, Page } from "@playwright/test";
import { choose, expect, headline, open, paste, test } from "./page.ts";

class Author {
  actions = 0;
  constructor(readonly page: Page) {}

  async click(what: Locator): Promise<void> {
    this.actions += 1;
    await what.click();
  }
  async write(label: string, text: string): Promise<void> {
    this.actions += 1;
    await this.page.getByLabel(label, { exact: true }).fill(text);
  }
  async choose(label: string, value: string): Promise<void> {
    this.actions += 1;
    await choose(this.page, label, value);
  }
  async paste(text: string): Promise<void> {
    this.actions += 1;
    await paste(this.page, text);
    await expect(this.page.locator(".found .buttons")).toBeVisible();
  }
  /** A plan for this card: until the plans of a change are there, those of the request before it are shown. */
  async applyFirstPlan(card: string): Promise<void> {
    await expect(this.page.locator("#plan-tier option").first()).toContainText(card);
    await this.click(this.page.locator(".ways .apply").first());
    await expect(headline(this.page)).toContainText(/Fits|Tight/);
  }
  async copyLink(): Promise<void> {
    await this.click(this.page.getByRole("button", { name: "Copy link" }));
    await expect(this.page.locator(".told")).toBeVisible();
  }
}

const within = (author: Author, name: string, most: number) => {
  test.info().annotations.push({ type: "actions", description: `${name}: ${author.actions}` });
  expect(author.actions, name).toBeLessThanOrEqual(most);
};

test("A: a YAML file of one stage, on an RTX A6000", async ({ page }) => {
  await open(page);
  const author = new Author(page);
  await author.paste(`base_model: mistralai/Mistral-7B-Instruct-v0.3
load_in_4bit: true
adapter: qlora
lora_r: 32
lora_alpha: 64
lora_target_linear: true
sequence_len: 2048
micro_batch_size: 8
gradient_accumulation_steps: 8
gradient_checkpointing: false
bf16: true
optimizer: paged_adamw_8bit
`);
  await author.choose("GPU", "rtx-a6000");
  await expect(headline(page)).toContainText("A6000");
  if (!(await headline(page).innerText()).includes("Fits")) await author.applyFirstPlan("A6000");
  await author.copyLink();
  within(author, "A", 4);
});

test("B: a file whose model and rank stay as they are, on 24 GB", async ({ page }) => {
  await open(page);
  const author = new Author(page);
  await author.paste(`base_model: Qwen/Qwen2.5-7B
adapter: lora
lora_r: 128
lora_alpha: 256
lora_target_linear: true
sequence_len: 2048
micro_batch_size: 2
gradient_accumulation_steps: 8
gradient_checkpointing: true
bf16: true
optimizer: adamw_torch
`);
  await author.choose("GPU", "rtx-3090");
  await expect(headline(page)).toContainText("3090");
  await author.applyFirstPlan("3090");
  await expect(page).toHaveURL(/peft\.r=128/);
  await author.copyLink();
  within(author, "B", 4);
});

test("C: the same run on a Turing card, from the examples, compared with what fits", async ({ page }) => {
  await open(page);
  const author = new Author(page);
  await author.click(page.locator(".scenarios summary"));
  await author.click(page.locator('[data-scenario^="c-"][data-scenario$="-before"]'));
  await expect(headline(page)).toContainText("Quadro RTX 6000");
  await author.click(page.locator("#tab-compare"));
  await author.click(page.getByRole("button", { name: "Compare against this" }));
  await author.applyFirstPlan("Quadro RTX 6000");
  await expect(page.locator("section[aria-labelledby=compare-title] tbody tr").first()).toBeVisible();
  await author.copyLink();
  within(author, "C", 6);
});

test("D: the error line and a few settings, on an A10G", async ({ page }) => {
  await open(page);
  const author = new Author(page);
  await author.paste(`CUDA out of memory. Tried to allocate 224.00 MiB (GPU 0; 22.20 GiB total capacity)

TrainingArguments(per_device_train_batch_size=2, gradient_accumulation_steps=8, fp16=True, optim="adamw_torch", gradient_checkpointing=False)
`);
  await expect(page.locator(".found").last()).toContainText("224.00 MiB");
  // The file names neither model nor card: both are asked for, the card as one that has what the message says.
  await expect(page.locator(".verdict .ask")).toHaveCount(2);
  await author.choose("Model", "mistralai/Mistral-7B-v0.3");
  await author.click(page.locator(".ask button", { hasText: "LoRA, 16-bit" }));
  await author.click(page.locator(".ask button", { hasText: "1,024" }));
  await expect(headline(page)).toContainText("A10G");
  if (!(await headline(page).innerText()).includes("Fits")) await author.applyFirstPlan("A10G");
  await author.copyLink();
  within(author, "D", 6);
});

test("E: a vision-language model on 8 GB", async ({ page }) => {
  await open(page);
  const author = new Author(page);
  await author.click(page.locator(".scenarios summary"));
  await author.click(page.locator('[data-scenario^="e-"][data-scenario$="-before"]'));
  await expect(page.locator("#field-model")).toHaveValue(/llava/);
  await author.applyFirstPlan("4060");
  await author.copyLink();
  within(author, "E", 4);
});
