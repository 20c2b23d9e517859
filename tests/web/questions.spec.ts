// Ten questions that people ask, each from an empty page, with the number of actions to its answer. A choice in a combobox, a
// click, a text typed or pasted is one action; docs/actions.md has the counts.
import type { Locator, Page } from "@playwright/test";
import { encode } from "../../web/src/link.ts";
import { choose, expect, headline, open, paste, test } from "./page.ts";

class Asker {
  actions = 0;
  constructor(readonly page: Page) {}

  async click(what: Locator): Promise<void> {
    this.actions += 1;
    await what.click();
  }
  /** A click: check() does nothing where it is checked already. */
  async check(label: string): Promise<void> {
    this.actions += 1;
    await this.page.getByLabel(label).click();
    await expect(this.page.getByLabel(label)).toBeChecked();
  }
  async choose(label: string, text: string): Promise<void> {
    this.actions += 1;
    await choose(this.page, label, text);
  }
  async write(label: string, text: string): Promise<void> {
    this.actions += 1;
    await this.page.getByLabel(label, { exact: true }).fill(text);
  }
  async paste(text: string): Promise<void> {
    this.actions += 1;
    await paste(this.page, text);
  }
  answer(question: string): Locator {
    return this.page.locator(".ask", { hasText: question });
  }
  /** The shortest way out, from the card itself. */
  async applyFirst(): Promise<void> {
    await this.click(this.page.locator(".ways .apply").first());
    await expect(headline(this.page)).toContainText(/Fits|Tight/);
  }
  within(most: number): void {
    test.info().annotations.push({ type: "actions", description: String(this.actions) });
    expect(this.actions).toBeLessThanOrEqual(most);
  }
}

async function begin(page: Page): Promise<Asker> {
  await open(page);
  return new Asker(page);
}

test("1: does LoRA of an 8B model at 4k fit a 4090, and with which batch", async ({ page }) => {
  const asker = await begin(page);
  await asker.choose("Model", "llama 3.1 8b");
  await asker.check("LoRA, 16-bit");
  await asker.choose("GPU", "4090");
  await asker.write("Max length", "4k");
  await expect(headline(page)).toContainText("Tight on the GeForce RTX 4090 24GB");
  asker.within(4);
  await asker.applyFirst();
  await expect(page.locator(".chips")).toContainText(/Micro-batch up to \d+/);
  asker.within(5);
});

test("2: QLoRA of a 70B model on two 3090", async ({ page }) => {
  const asker = await begin(page);
  await asker.choose("Model", "llama 3.1 70b");
  await asker.check("QLoRA, NF4");
  await asker.choose("GPU", "2x 3090");
  await asker.write("Max length", "2048");
  await expect(headline(page)).toContainText(/2.× GeForce RTX 3090 24GB/);
  asker.within(4);
  // How they share it is asked; the first way out is the one of PEFT's documentation, with nothing learned less.
  await expect(asker.answer("How do the GPUs share the run?")).toContainText("FSDP");
  await expect(page.locator(".ways li").first()).toContainText("FSDP with parameters offloaded to CPU");
  await expect(page.locator(".ways li").first()).toContainText("No effect on training");
  await asker.applyFirst();
  await expect(headline(page)).toContainText(/2.× GeForce RTX 3090 24GB, FSDP/);
  asker.within(5);
});

test("3: which GPU to rent for all parameters of Qwen3-8B", async ({ page }) => {
  const asker = await begin(page);
  await asker.choose("Model", "qwen3 8b");
  await asker.check("Full, 16-bit");
  await expect(asker.answer("Which method?")).toHaveCount(0);
  await asker.click(asker.answer("How long").getByRole("button", { name: "2,048" }));
  await expect(headline(page)).toContainText("Needs");
  await expect(page.locator(".verdict")).toContainText(/Every GPU of|No size of GPU/);
  const machine = page.locator(".chips button", { hasText: "Cheapest:" });
  await expect(machine).toContainText(/\$[\d.]+.* (the run|for 1,000 steps)/);
  asker.within(3);
  await machine.click();
  await expect(page.locator(".rents li").first()).toBeVisible();
});

const GRPO = `from trl import GRPOConfig, GRPOTrainer
args = GRPOConfig(output_dir="out", per_device_train_batch_size=8, num_generations=8, max_completion_length=512,
                  use_vllm=True, vllm_mode="colocate", vllm_gpu_memory_utilization=0.3, bf16=True)
trainer = GRPOTrainer(model="Qwen/Qwen2.5-7B-Instruct", args=args, reward_funcs=reward, train_dataset=data)
`;

test("4: GRPO of a 7B model with vLLM beside it on one H100", async ({ page }) => {
  const asker = await begin(page);
  await asker.paste(GRPO);
  await asker.click(asker.answer("Which GPU?").getByRole("button", { name: "H100 SXM5 80GB" }));
  await asker.click(asker.answer("longest prompt").getByRole("button", { name: "512" }));
  await expect(page).toHaveURL(/task=grpo/);
  await expect(page).toHaveURL(/model=Qwen\/Qwen2\.5-7B-Instruct/);
  await expect(headline(page)).toContainText("H100");
  asker.within(3);
});

const ERROR =
  "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 23.64 GiB total capacity; 20.90 GiB already allocated; 1.12 GiB free; 21.10 GiB reserved in total by PyTorch)";

test("5: what a bare error line means", async ({ page }) => {
  const asker = await begin(page);
  await asker.paste(ERROR);
  await expect(page.locator(".found")).toContainText("2.00 GiB were asked for");
  asker.within(1);
  // The diagnosis asks what divides its causes, and answers anew.
  const asked = page.locator(".found").getByRole("group", { name: "When did it fail?" });
  await asked.getByRole("button", { name: "In evaluation" }).click();
  await expect(page.locator(".likeliest h3")).toContainText("evaluation", { ignoreCase: true });
  await expect(asked).toHaveCount(0);
  // Nothing of the example stands beside it; a card that has so much is taken, and can be said.
  await expect(page.locator("plimsoll-app .shown")).toHaveText("Your request");
  await expect(asker.answer("Which GPU?")).toContainText("23.64");
  await expect(asker.answer("Which GPU?")).toContainText("until you say: GeForce RTX 4090 24GB");
  await asker.click(asker.answer("Which model?").getByRole("button", { name: "Qwen3-8B" }));
  await asker.click(asker.answer("Which method?").getByRole("button", { name: "QLoRA" }));
  await asker.click(asker.answer("How long").getByRole("button", { name: "4,096" }));
  await expect(headline(page)).toContainText("RTX 4090");
  // One of them is that of the diagnosis.
  asker.within(5);
  expect(asker.actions - 1).toBeLessThanOrEqual(4);
});

const AXOLOTL = `base_model: meta-llama/Llama-2-70b-hf
load_in_4bit: true
adapter: qlora
lora_r: 16
lora_target_linear: true
sequence_len: 2048
micro_batch_size: 1
gradient_accumulation_steps: 8
bf16: true
fsdp:
  - full_shard
`;

test("6: will an Axolotl file for several cards run", async ({ page }) => {
  const asker = await begin(page);
  await asker.paste(AXOLOTL);
  await expect(headline(page)).toContainText("Needs");
  asker.within(1);
  await asker.click(asker.answer("Which GPU?").getByRole("button", { name: "RTX 3090" }));
  await asker.click(asker.answer("How many").getByRole("button", { name: "2", exact: true }));
  await expect(headline(page)).toContainText(/2.× GeForce RTX 3090 24GB, FSDP/);
  asker.within(3);
});

test("7: what a colleague saw who sent a link", async ({ page }) => {
  await open(
    page,
    encode({
      model: "Qwen/Qwen2.5-7B",
      peft: { r: 16, target_modules: "all-linear" },
      quantization: { load_in_4bit: true },
      training: { bf16: true, max_length: 2048, per_device_train_batch_size: 1 },
      hardware: { gpu: "l4" },
    }),
  );
  await expect(headline(page)).toContainText("the L4 24GB");
  await expect(page.locator("plimsoll-app .shown")).toHaveText("Your request");
});

test.describe("offline", () => {
  test.use({ serviceWorkers: "allow" });

  test("8: the same without a network", async ({ page, context }) => {
    const asker = await begin(page);
    await expect(page.locator(".offline")).toContainText("without a network");
    await context.setOffline(true);
    await page.reload();
    await expect(page.locator("#share-title")).toBeAttached();
    await asker.choose("Model", "phi-4");
    await asker.check("QLoRA, NF4");
    await asker.choose("GPU", "l4");
    await asker.write("Max length", "1,024");
    await expect(headline(page)).toContainText("the L4 24GB");
    asker.within(4);
    await context.setOffline(false);
  });
});

const CONFIG = JSON.stringify({
  architectures: ["LlamaForCausalLM"],
  model_type: "llama",
  hidden_size: 3072,
  intermediate_size: 8192,
  num_hidden_layers: 28,
  num_attention_heads: 24,
  num_key_value_heads: 8,
  vocab_size: 128256,
  torch_dtype: "bfloat16",
});

test("9: a model that nobody knows, by its config.json", async ({ page }) => {
  const asker = await begin(page);
  await asker.paste(CONFIG);
  await asker.check("LoRA, 16-bit");
  await asker.choose("GPU", "4090");
  await asker.write("Max length", "2k");
  await expect(headline(page)).toContainText("4090");
  asker.within(4);
  // Another config.json changes the model alone.
  await page.locator(".found").getByRole("button", { name: "change" }).click();
  await asker.paste(CONFIG.replace("28", "14"));
  await expect(page).toHaveURL(/(?=.*num_hidden_layers=14&)(?=.*max_length=2048&)/);
  await expect(headline(page)).toContainText("4090");
});

test("10: all of it on a phone", async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  const asker = await begin(page);
  // The verdict of the example is in sight, and what begins a run of one's own.
  await expect(headline(page)).toBeInViewport();
  await asker.click(page.locator(".begin").getByRole("button", { name: "Llama-3.1-8B" }));
  await asker.click(asker.answer("Which GPU?").getByRole("button", { name: "T4" }));
  await asker.click(asker.answer("How long").getByRole("button", { name: "512" }));
  await asker.click(asker.answer("Which method?").getByRole("button", { name: "QLoRA" }));
  await expect(headline(page)).toContainText("T4");
  asker.within(4);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
});

test("the settings of a phone are a sheet, opened from the sentence that says the request", async ({
  page,
}) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await open(page);
  const model = page.getByLabel("Model", { exact: true });
  await expect(model).toBeHidden();
  const sentence = page.locator(".sentence");
  await expect(sentence).toContainText("LoRA, 16-bit of Mistral-7B-v0.3 on A10G 24GB, batch 1 × 256 tokens");
  await sentence.click();
  await expect(page.getByRole("dialog", { name: "Settings" })).toBeVisible();
  await expect(model).toBeFocused();
  await choose(page, "Model", "llama 3.1 8b");
  await page.getByLabel("QLoRA, NF4", { exact: true }).check();
  await choose(page, "GPU", "t4");
  await page.getByLabel("Max length", { exact: true }).fill("512");
  // The verdict stays in sight below them.
  await expect(page.locator(".ribbon")).toBeInViewport();
  await expect(page.locator(".ribbon")).toContainText("T4");
  await page.keyboard.press("Escape");
  await expect(model).toBeHidden();
  await expect(sentence).toBeFocused();
  await expect(sentence).toContainText("QLoRA, NF4 of Llama-3.1-8B on Tesla T4 16GB, batch 1 × 512 tokens");
  // A question of the card leads to its input.
  await page.locator(".assumed button", { hasText: "Micro-batch" }).click();
  await expect(page.getByLabel("Micro-batch", { exact: true })).toBeFocused();
  await page.getByRole("button", { name: "Done" }).click();
  await expect(model).toBeHidden();
});

test("a run that is said in a sentence is the request at once", async ({ page }) => {
  const asker = await begin(page);
  await asker.paste("QLoRA of Llama 3.1 8B on a 4090 at 4k tokens");
  await expect(headline(page)).toContainText("RTX 4090");
  asker.within(1);
  await expect(page).toHaveURL(/(?=.*load_in_4bit=true)(?=.*max_length=4096)(?=.*target_modules=all-linear)/);
  // What nobody has said of it is said to be taken.
  await expect(page.locator(".assumed")).toContainText("Gradient checkpointing: on");
  await page.locator(".found").getByRole("button", { name: "undo" }).click();
  await expect(page.locator("plimsoll-app .shown")).toContainText("Example:");
  // How two cards share it is the person's to say; everything else is as if it were chosen here.
  await asker.paste("QLoRA of Llama 3.1 70B on 2x RTX 3090 at 2048 tokens");
  await expect(headline(page)).toContainText(/2.× GeForce RTX 3090 24GB/);
  await expect(asker.answer("How do the GPUs share the run?")).toBeVisible();
  await expect(page.locator(".assumed")).toContainText("Micro-batch: 1");
});
