// What people who fine-tune every week paste and ask, where the page once answered something else than what they said.
import { expect, headline, open, paste, test } from "./page.ts";

test("a trainer that is not replayed says so, however short its command", async ({ page }) => {
  await open(page);
  await paste(page, "mlx_lm.lora --model mlx-community/Qwen2.5-14B-Instruct-4bit --train --batch-size 4");
  const box = page.locator("plimsoll-paste");
  await expect(box).toContainText("This is MLX's trainer");
  await expect(box).toContainText("What can be pasted instead: the same model");
  // The second module has nothing to add.
  await page.waitForLoadState("networkidle");
  await expect(box).toContainText("This is MLX's trainer");
  await expect(page).not.toHaveURL(/Qwen2\.5-14B/);
});

test("a command whose settings are in a file of its own says which", async ({ page }) => {
  await open(page);
  await paste(page, "llamafactory-cli train examples/train_lora/llama3_lora_sft.yaml");
  const box = page.locator("plimsoll-paste");
  await expect(box).toContainText(
    "The settings of this command are in examples/train_lora/llama3_lora_sft.yaml",
  );
  await expect(box).toContainText("What can be pasted instead: the text of that file");
});

test("a chip of Apple's gets no verdict, and the card says why", async ({ page }) => {
  await open(page);
  await paste(page, "LoRA of Qwen2.5-14B on my M3 Max 64 GB at 1024 tokens");
  await expect(headline(page)).toContainText("Needs");
  await expect(page.locator(".verdict .ask")).toContainText(["Apple M3 Max gets no verdict"]);
  await expect(page.locator(".limits")).toHaveText("");
});

const DPO = `  File "/opt/conda/lib/python3.11/site-packages/trl/trainer/dpo_trainer.py", line 1370, in concatenated_forward
    per_token_logps = selective_log_softmax(logits, labels)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.16 GiB. GPU 0 has a total capacity of 79.25 GiB of which 1.02 GiB is free. Process 41235 has 78.22 GiB memory in use. Of the allocated memory 74.31 GiB is allocated by PyTorch, and 3.29 GiB is reserved by PyTorch but unallocated.`;

test("the frames of a trainer say the task, before anybody names the model", async ({ page }) => {
  await open(page);
  await paste(page, DPO);
  await page.locator(".verdict .ask").getByRole("button", { name: "Qwen3-8B" }).click();
  await expect(page).toHaveURL(/task=dpo/);
});

test("words beside a message leave its card known", async ({ page }) => {
  await open(page);
  await paste(page, `${DPO}\n\nDPO of Qwen3-14B with LoRA r=64, batch size 4, max_length 2048`);
  const card = page.locator(".verdict .ask", { hasText: "Which GPU?" });
  await expect(card).toContainText("79.25 GiB");
  await expect(card.getByRole("button").first()).toHaveText("A100 SXM4 80GB");
  const found = page.locator("plimsoll-paste");
  await expect(found).toContainText("These changes get past it");
  // The settings are those of the words.
  await expect(found).not.toContainText("since none were pasted");
});

test("who says full fine-tuning is not asked for the method", async ({ page }) => {
  await open(page);
  await paste(page, "Can I full fine-tune Llama-3.1-8B on 8xH100 80GB with FSDP at 2048 tokens?");
  await expect(page.getByLabel("Full, 16-bit", { exact: true })).toBeChecked();
  await expect(headline(page)).toContainText("H100");
  await expect(page.locator(".ask", { hasText: "Which method?" })).toHaveCount(0);
});

test("which model fits is answered in words, and one click takes it", async ({ page }) => {
  await open(page);
  await paste(page, "which model can I QLoRA on a 4060 laptop?");
  const answer = page.locator("plimsoll-paste .found");
  await expect(answer).toContainText("The largest models that are known and fit:");
  await answer.getByRole("button").first().click();
  await expect(page).toHaveURL(/model=.*/);
});

test("a sentence after a script says the cards that the script leaves open", async ({ page }) => {
  await open(page);
  await paste(
    page,
    `from unsloth import FastLanguageModel
model, tokenizer = FastLanguageModel.from_pretrained("unsloth/Meta-Llama-3.1-8B-bnb-4bit", max_seq_length=2048, load_in_4bit=True)
model = FastLanguageModel.get_peft_model(model, r=16, target_modules=["q_proj", "v_proj"])
trainer = SFTTrainer(model=model, args=SFTConfig(per_device_train_batch_size=2, optim="adamw_8bit"))

I run this on Kaggle with GPU T4 x2. Does the second T4 help?
`,
  );
  await expect(page).toHaveURL(/num_gpus=2/);
  await expect(page).toHaveURL(/gpu=t4/);
});

test("what eight cards share is said to be needed on each, before one is chosen", async ({ page }) => {
  await open(page);
  await paste(
    page,
    "accelerate launch --num_processes 8 --use_fsdp train.py --model_name_or_path meta-llama/Llama-3.3-70B-Instruct --max_length 4096 --bf16",
  );
  await expect(headline(page)).toContainText(/Needs .* on each GPU/);
});
