// What somebody does who has never seen the page: each test is a place where such a person had to stop and think.
import type { Page } from "@playwright/test";
import { box, choose, expect, headline, open, paste, test, unfold, wholeAnswer } from "./page.ts";

/** Of a QLoRA run, and of nothing else that a request says. */
const TRACEBACK = `Traceback (most recent call last):
  File "/usr/lib/python3.11/site-packages/transformers/trainer.py", line 3698, in training_step
    loss = self.compute_loss(model, inputs, num_items_in_batch=num_items_in_batch)
  File "/usr/lib/python3.11/site-packages/peft/peft_model.py", line 1757, in forward
    return self.base_model(
  File "/usr/lib/python3.11/site-packages/transformers/models/llama/modeling_llama.py", line 688, in forward
    logits = self.lm_head(hidden_states[:, slice_indices, :])
  File "/usr/lib/python3.11/site-packages/bitsandbytes/nn/modules.py", line 484, in forward
    return bnb.matmul_4bit(x, self.weight.t(), bias=bias, quant_state=self.weight.quant_state)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.91 GiB. GPU 0 has a total capacity of 23.64 GiB of which 1.02 GiB is free. Including non-PyTorch memory, this process has 22.61 GiB memory in use. Of the allocated memory 21.50 GiB is allocated by PyTorch, and 680.12 MiB is reserved by PyTorch but unallocated.`;

test("a traceback alone leads to a fix: its frames say QLoRA, the card asks the rest", async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 780 });
  await open(page);
  await paste(page, TRACEBACK);
  const asks = page.locator(".ask");
  await asks.getByRole("button", { name: "Llama-3.1-8B" }).click();
  await expect(page.getByLabel("QLoRA, NF4", { exact: true })).toBeChecked();
  await expect(asks.filter({ hasText: "Which method?" })).toHaveCount(0);
  // The next question has the focus, in view, and no plan is made for a run that is not known yet.
  await expect(asks.first().getByRole("button").first()).toBeFocused();
  await expect(asks.first()).toBeInViewport();
  await expect(page.locator("plimsoll-paste code").first()).toBeAttached();
  await expect(page.locator(".way")).toHaveCount(0);
  // The size that failed says how many tokens the micro-batch had: one answer says batch and length.
  await expect(asks.first()).toContainText("8,192 tokens");
  await asks.getByRole("button", { name: "1 × 8,192" }).click();
  await asks.getByRole("button", { name: "GeForce RTX 4090 24GB" }).click();
  await expect(headline(page)).toContainText("Does not fit the GeForce RTX 4090");
  await expect(headline(page)).toBeFocused();
  await expect(page.locator(".way")).toBeAttached();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  // What is said of the failure is said of the run that died, not of the mended one.
  await expect(page.locator("plimsoll-paste .found > p").first()).toContainText(
    "3.91 GiB (cross-entropy) in the loss",
  );
  const summary = await page.locator("plimsoll-paste .found > p").first().textContent();
  await page.locator(".ways .apply").first().click();
  await expect(headline(page)).toContainText(/Fits|Tight/);
  await expect(page.locator(".way")).toHaveCount(0);
  await expect(page.locator("plimsoll-paste .found > p").first()).toHaveText(summary ?? "");
});

test("the name of a checkpoint finds it, and never a model that only resembles it", async ({ page }) => {
  await open(page);
  await choose(page, "Model", "Qwen/Qwen2.5-7B-Instruct");
  await expect(page.locator("#field-model-help")).toHaveText(/same shapes as Qwen\/Qwen2.5-7B, 7.62.B/);
  const model = page.getByRole("combobox", { name: "Model", exact: true });
  await model.fill("Qwen2.5-7B-Instruct");
  await expect(page.locator(".options [role=option]").first()).toContainText("Qwen/Qwen2.5-7B-Instruct");
  // In a folder of one's own: it is read by its name, and no other is taken for it.
  await model.fill("me/Qwen2.5-VL");
  await model.press("Enter");
  await expect(model).toHaveValue("me/Qwen2.5-VL");
});

test("nothing in the form moves while an answer is awaited", async ({ page }) => {
  await open(page);
  await choose(page, "Model", "Llama 3.1 8B");
  await expect(page.locator("#field-model-help")).toHaveText(/8.03/);
  await page.evaluate(() => {
    const help = document.querySelector("#field-model-help");
    const heights = new Set<number>();
    const look = () => heights.add(help?.getBoundingClientRect().height ?? 0);
    look();
    new MutationObserver(look).observe(document.body, {
      subtree: true,
      childList: true,
      characterData: true,
    });
    Object.assign(window, { heights });
  });
  await page.getByLabel("Max length", { exact: true }).fill("8k");
  await expect(page.locator(".sentence")).toContainText("8,192");
  const seen = await page.evaluate(() => [...(window as unknown as { heights: Set<number> }).heights]);
  expect(seen).toHaveLength(1);
});

test("a method that nobody has said is asked for, beside the one that was taken", async ({ page }) => {
  await open(page);
  await paste(page, "DPO of Llama 3.1 8B on a 3090 at 2048 tokens");
  const ask = page.locator(".ask", { hasText: "Which method?" });
  await expect(ask).toContainText("until you say: QLoRA, NF4");
  await ask.getByRole("button", { name: "LoRA, 32-bit" }).click();
  await expect(ask).toHaveCount(0);
  await expect(page.getByLabel("LoRA, 32-bit", { exact: true })).toBeChecked();
});

test("a precision that somebody has said is not changed by a card: the card is warned of, with a way out", async ({
  page,
}) => {
  await open(page);
  await paste(
    page,
    "base_model: Qwen/Qwen2.5-7B\nadapter: lora\nlora_r: 16\nsequence_len: 1024\nbf16: true\n",
  );
  await choose(page, "GPU", "t4");
  const warned = page.locator(".verdict .ask", { hasText: "no bfloat16" });
  await expect(warned).toBeVisible();
  await expect(page).toHaveURL(/bf16=true/);
  await warned.getByRole("button", { name: "Train in fp16" }).click();
  await expect(warned).toHaveCount(0);
  await expect(page).toHaveURL(/fp16=true&?.*/);
  await expect(page).not.toHaveURL(/bf16=true/);
});

test("of a model whose size alone is said, one of that size is offered first", async ({ page }) => {
  await open(page);
  await paste(page, "QLoRA of a 70B on two 3090s");
  const first = page.locator(".ask", { hasText: "Which model?" }).getByRole("button").first();
  await expect(first).toHaveText("Llama-3.1-70B");
  await first.click();
  await expect(page).toHaveURL(/model=meta-llama\/Llama-3\.1-70B/);
});

test("a failure is not explained with a method that nobody has said", async ({ page }) => {
  await open(page);
  await paste(
    page,
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1002.00 MiB. GPU 0 has a total capacity of 14.74 GiB of which 836.12 MiB is free. Process 5210 has 13.92 GiB memory in use. Of the allocated memory 13.21 GiB is allocated by PyTorch, and 596.44 MiB is reserved by PyTorch but unallocated.",
  );
  // The question that was answered is gone; what is said now has the focus.
  await page.locator(".found .ask").getByRole("button", { name: "In the first step, but" }).click();
  await expect(page.locator(".found .ask button, #diagnosis-title").first()).toBeFocused();
  const asks = page.locator(".verdict .ask");
  await asks.getByRole("button", { name: "Llama-3.1-8B" }).click();
  await asks.getByRole("button", { name: "2,048" }).click();
  await expect(headline(page)).toContainText("Does not fit the Tesla T4");
  await expect(page.locator(".likeliest")).not.toContainText("of 14.74 GiB");
  await asks.getByRole("button", { name: "QLoRA" }).click();
  await expect(page.locator(".likeliest")).toContainText("logits of 2048 tokens");
  await page.locator(".ways .apply").first().click();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(headline(page)).toBeFocused();
});

test("a file that trains all weights, or what a checkpoint stores, is not asked for its method", async ({
  page,
}) => {
  await open(page);
  const file =
    "model_name_or_path: Qwen/Qwen3-4B-Instruct-2507\nstage: sft\ndo_train: true\ncutoff_len: 2048\n";
  await paste(page, `${file}finetuning_type: full\n`);
  await expect(page.locator(".ask", { hasText: "Which GPU?" })).toBeVisible();
  await expect(page.locator(".ask", { hasText: "Which method?" })).toHaveCount(0);
  await expect(page.getByLabel("Full, 32-bit", { exact: true })).toBeChecked();
  await page.locator(".found").getByRole("button", { name: "undo" }).click();
  const awq = file.replace("Qwen/Qwen3-4B-Instruct-2507", "TechxGenus/Meta-Llama-3-8B-Instruct-AWQ");
  await paste(page, `${awq}finetuning_type: lora\n`);
  await expect(page.locator(".sentence")).toContainText("AWQ");
  await expect(page.getByLabel("LoRA, 16-bit", { exact: true })).not.toBeChecked();
});

test("of the cards that a name finds, those that most people have come first", async ({ page }) => {
  await open(page);
  await choose(page, "GPU", "h100");
  await expect(page.getByRole("combobox", { name: "GPU", exact: true })).toHaveValue("H100 SXM5 80GB");
  await choose(page, "GPU", "h100 nvl");
  await expect(page.getByRole("combobox", { name: "GPU", exact: true })).toHaveValue("H100 NVL 94GB");
});

test("a question for the largest batch is no report of a failure", async ({ page }) => {
  await open(page);
  await paste(page, "largest batch for QLoRA of Llama 3.1 8B on a 4090 at 2048 tokens");
  await expect(page.locator(".chips")).toContainText(/Micro-batch up to \d+/);
  await expect(page.locator("#asked-title")).toBeVisible();
  await expect(page.locator("#diagnosis-title")).toHaveCount(0);
});

test("images are asked for in words, and one click answers", async ({ page }) => {
  await open(page);
  await paste(page, "LoRA of Qwen2.5-VL-7B on an A100 80GB at 4k");
  await page
    .locator(".ask", { hasText: "How many images has a sample?" })
    .getByRole("button", { name: "1", exact: true })
    .click();
  await page
    .locator(".ask", { hasText: "How large are its images" })
    .getByRole("button", { name: "896" })
    .click();
  await expect(headline(page)).toContainText("A100");
  await expect(page.locator(".ask")).toHaveCount(0);
});

test("images that fill the length are warned of beside the verdict", async ({ page }) => {
  await open(page);
  await paste(page, "LoRA of Qwen2.5-VL-7B with 1280x1280 images on an A6000 at 1024 tokens");
  await page
    .locator(".ask", { hasText: "How many images" })
    .getByRole("button", { name: "1", exact: true })
    .click();
  await expect(headline(page)).toContainText("RTX A6000");
  await expect(page.locator(".verdict .ask")).toContainText("2,116 tokens, more than max_length");
});

test("frames alone say how the cards share the run: their number is asked, and nothing is resumed", async ({
  page,
}) => {
  await open(page);
  await paste(
    page,
    `[rank3]:   File "finetune.py", line 198, in main
[rank3]:     trainer.train(resume_from_checkpoint=args.resume)
[rank3]:   File "/opt/site-packages/deepspeed/runtime/engine.py", line 2110, in _take_model_step
[rank3]:     self.optimizer.step()
[rank3]:   File "/opt/site-packages/deepspeed/runtime/zero/stage3.py", line 2061, in step
[rank3]:     self._prepare_sub_group(sub_group_id, timer_names)
[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.73 GiB. GPU 3 has a total capacity of 79.15 GiB of which 2.13 GiB is free. Including non-PyTorch memory, this process has 77.01 GiB memory in use. Of the allocated memory 72.88 GiB is allocated by PyTorch, and 2.11 GiB is reserved by PyTorch but unallocated.`,
  );
  await expect(page.locator(".likeliest")).toContainText("The optimizer's states did not exist before");
  await expect(page.locator(".ask", { hasText: "How many GPUs?" })).toBeVisible();
  await expect(page).toHaveURL(/strategy=zero3/);
});

test("a card that only its size names is one of that size, until somebody says which", async ({ page }) => {
  await open(page);
  await box(page).fill("Can I fine-tune Llama 3 8B on a single 24GB GPU with QLoRA at 2k?");
  const ask = page.locator(".verdict .ask", { hasText: "Which GPU?" });
  await expect(ask).toContainText("until you say: GeForce RTX 3090 24GB");
  await expect(ask).not.toContainText("H100");
  await expect(headline(page)).toContainText("Fits the GeForce RTX 3090");
});

test("an A100 of no size is asked for, and taken as the smaller one; how many was said", async ({ page }) => {
  await open(page);
  await paste(page, "LoRA of Mistral-7B-v0.3 on 4x A100 at 2048 tokens");
  const ask = page.locator(".verdict .ask", { hasText: "Which GPU?" });
  await expect(ask).toContainText("until you say: A100 SXM4 40GB");
  await expect(headline(page)).toContainText(/4.× A100 SXM4 40GB/);
  await ask.getByRole("button", { name: "A100 SXM4 80GB" }).click();
  await expect(ask).toHaveCount(0);
  await expect(headline(page)).toContainText(/4.× A100 SXM4 80GB/);
});

test("a question that names no model is told what to name", async ({ page }) => {
  await open(page);
  await box(page).fill("which GPU should I rent");
  await expect(page.locator(".complaint")).toContainText("Name its model and GPU");
});

test.describe("in German", () => {
  test.use({ locale: "de-DE" });
  test("what tells the causes apart is asked in German", async ({ page }) => {
    await open(page);
    await paste(
      page,
      "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 23.64 GiB total capacity; 20.90 GiB already allocated; 1.12 GiB free; 21.10 GiB reserved in total by PyTorch)",
    );
    await expect(page.locator(".found > p").first()).toHaveText(
      "2,00\u00a0GiB wurden verlangt; frei waren 1,12\u00a0GiB von 23,64\u00a0GiB.",
    );
    const asked = page.getByRole("group", { name: "Wann brach es ab?" });
    await asked.getByRole("button", { name: "In der Evaluation" }).click();
    await expect(asked).toHaveCount(0);
  });

  test("what was applied is said in German", async ({ page }) => {
    await open(page);
    await choose(page, "Modell", "Llama 3.1 8B");
    await page.getByLabel("LoRA, 16 Bit").check();
    await choose(page, "GPU", "4090");
    await page.getByLabel("Maximale Länge", { exact: true }).fill("4k");
    const way = page.locator(".ways li").first();
    const title = await way.locator("b").innerText();
    await way.getByRole("button").click();
    await expect(page.locator(".undo")).toContainText(`Angewandt: ${title.split(" + ")[0] ?? "?"}`);
  });
});

for (const [way, begin] of Object.entries({
  "in words": async (page: Page) => paste(page, "GRPO of Qwen2.5-7B with LoRA and vLLM on an H100"),
  "by clicks": async (page: Page) => {
    await choose(page, "Model", "Qwen2.5-7B");
    await page.getByLabel("LoRA, 16-bit", { exact: true }).check();
    await choose(page, "GPU", "H100 SXM5 80GB");
    await unfold(page, "Task");
    await page.getByLabel("Task", { exact: true }).selectOption({ label: "GRPO" });
  },
})) {
  test(`GRPO with what nobody said is a run that TRL begins, ${way}`, async ({ page }) => {
    await open(page);
    await begin(page);
    await page.locator(".ask", { hasText: "longest prompt" }).getByRole("button", { name: "1,024" }).click();
    await expect(page.locator(".assumed")).toContainText("Accumulation: 8");
    await expect(page.locator(".assumed")).toContainText("Training stack: TRL");
    await expect(page.locator(".assumed")).toContainText("Completions per prompt: 8");
    await expect(page.locator(".assumed")).toContainText("Max completion length: 256");
    await expect(page.locator(".chips")).toContainText("Cheapest");
    await expect(page.locator(".verdict")).not.toContainText("TRL stops");
    // Said otherwise, it is on the card, and once among the remarks.
    await unfold(page, "Step and kernels");
    await page.getByLabel("Accumulation", { exact: true }).fill("1");
    await expect(page.locator(".verdict .ask")).toContainText("must be divisible by num_generations");
    await expect(page.locator(".rest li", { hasText: "must be divisible" })).toHaveCount(1);
    // Another task takes TRL with it.
    await unfold(page, "Task");
    await page.getByLabel("Task", { exact: true }).selectOption({ label: "SFT" });
    await expect(page.locator(".assumed")).toContainText("Training stack: Transformers Trainer");
  });
}

test("the timeline draws no limit outside itself, and says a moment once", async ({ page }) => {
  await open(page);
  await paste(page, "QLoRA of Llama 3.1 70B on a 3090 at 4096 tokens");
  await expect(headline(page)).toContainText("Does not fit");
  await page.locator("#tab-timeline").click();
  const panel = page.locator("#panel-timeline");
  await expect(panel).toContainText("That alone is beyond the usable limit.");
  await expect(panel.locator(".load-line")).toHaveCount(0);
  await expect(panel.locator(".at-work")).toHaveText(/^\s*Loss: /);
  // With what is there all the time, the limit is in the chart.
  await panel.getByLabel("Only what changes").uncheck();
  await expect(panel.locator(".load-line")).toHaveCount(1);
});

test("by the keyboard alone: what was pasted into is gone, and the first question has the focus", async ({
  page,
}) => {
  await open(page);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.evaluate(
    (text) => navigator.clipboard.writeText(text),
    "base_model: Qwen/Qwen3-8B\nadapter: lora\nlora_r: 16\nsequence_len: 2048\n",
  );
  await box(page).focus();
  await page.keyboard.press("Control+V");
  const first = page.locator(".ask").first().getByRole("button").first();
  await expect(first).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(headline(page)).toContainText("A100");
  await expect(headline(page)).toBeFocused();
});

// As TRL's examples are: nothing but a command at its head says the run.
const EXAMPLE = `# /// script
# dependencies = ["trl"]
# ///
"""
# Full training
python trl/scripts/sft.py \\
    --model_name_or_path Qwen/Qwen2-0.5B \\
    --per_device_train_batch_size 2 \\
    --gradient_accumulation_steps 8 \\
    --eval_strategy steps
"""
from trl import ModelConfig, ScriptArguments, SFTConfig, SFTTrainer, TrlParser

parser = TrlParser((ScriptArguments, SFTConfig, ModelConfig))
# The datasets argument will be used to load the dataset; lower the batch if it runs out of memory.
script_args, training_args, model_args = parser.parse_args_and_config()
trainer = SFTTrainer(model=model_args.model_name_or_path, args=training_args)
trainer.train()
`;

test("a library's example is the run of the command at its head, and no report of a failure", async ({
  page,
}) => {
  await open(page);
  await paste(page, EXAMPLE);
  await expect(page.getByLabel("Model", { exact: true })).toHaveValue(/qwen2-0.5b/i);
  await expect(page.getByLabel("Micro-batch", { exact: true })).toHaveValue("2");
  await expect(page.locator("plimsoll-paste .found")).toContainText("TRL, Python");
  await expect(page.locator("#diagnosis-title")).toHaveCount(0);
});

test("states that failed in fp32 are those of the run that is priced, which does not fit", async ({
  page,
}) => {
  await open(page);
  await paste(
    page,
    `Full fine-tuning of Mistral 7B on A100 80GB with adamw. The first forward and backward pass work, then:
    state["exp_avg_sq"] = torch.zeros_like(
torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB. GPU 0 has a total capacty of 79.15 GiB of which 130.25 MiB is free.`,
  );
  await page.locator(".ask").getByRole("button", { name: "1,024" }).click();
  await expect(headline(page)).toContainText("Does not fit the A100");
});

test("the row of the chosen card's size has the figures of that card, which the caption names", async ({
  page,
}) => {
  await open(page);
  await paste(page, "LoRA of Mistral-7B-v0.1 on a 4090 at 8192 tokens, batch size 8");
  await expect(headline(page)).toContainText("Does not fit the GeForce RTX 4090");
  await wholeAnswer(page);
  await page.locator("#tab-gpus").click();
  const row = page.locator(".tiers .mine");
  await expect(page.locator(".tiers caption")).toContainText("that of the GeForce RTX 4090 24GB itself");
  const over = /([\d.]+)\sGiB too much/.exec(await headline(page).innerText())?.[1] ?? "?";
  await expect(row).toContainText(`${over} over`);
});
