// What nobody has said is asked, and a figure that may still change is marked as one.
import { encode } from "../../web/src/link.ts";
import { choose, expect, headline, open, paste, RUN, showTab, test, wholeAnswer, wholeCard } from "./page.ts";

const method = { hasText: "Which method?" };

test("of a base in four bits the method is asked, and QLoRA taken until it is said", async ({ page }) => {
  await open(page);
  await paste(
    page,
    `from unsloth import FastLanguageModel
from trl import SFTTrainer, SFTConfig
model, tok = FastLanguageModel.from_pretrained("unsloth/Meta-Llama-3.1-8B-bnb-4bit", max_seq_length=2048, load_in_4bit=True)
SFTTrainer(model=model, args=SFTConfig(per_device_train_batch_size=2, output_dir="o")).train()
`,
  );
  const ask = page.locator(".ask", method);
  await expect(ask).toContainText("until you say: QLoRA");
  await expect(page.locator(".complaint")).toHaveCount(0);
  await expect(page.locator(".provisional")).toHaveText("Provisional: questions are open");
  await ask.getByRole("button", { name: "QLoRA, NF4" }).click();
  await expect(ask).toHaveCount(0);
  await choose(page, "GPU", "4090");
  await expect(headline(page)).toContainText("RTX 4090");
  await expect(page.locator(".provisional")).toHaveCount(0);
});

test("weights of GPTQ keep their format: adapters on them, or all in 16 bits", async ({ page }) => {
  await open(
    page,
    encode({
      model: "meta-llama/Llama-3.1-8B",
      quantization: { quant_method: "gptq" },
      hardware: { gpu: "rtx-4090" },
      training: { max_length: 512, per_device_train_batch_size: 1, bf16: true },
    }),
  );
  const ask = page.locator(".ask", method);
  await expect(ask).toContainText("until you say: LoRA on the GPTQ weights");
  await ask.getByRole("button", { name: "LoRA on the GPTQ weights" }).click();
  await expect(page).toHaveURL(/quant_method=gptq.*peft\.target_modules=all-linear/);
  await expect(ask).toHaveCount(0);
});

test("the micro-batch that the failed size proves is not asked", async ({ page }) => {
  await open(page);
  await paste(
    page,
    "QLoRA of Llama 3.1 8B, max_length 2048, on a 4090. torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.91 GiB. GPU 0 has a total capacity of 23.64 GiB of which 2.10 GiB is free. Of the allocated memory 20.90 GiB is allocated by PyTorch, and 210.00 MiB is reserved by PyTorch but unallocated.",
  );
  await expect(page).toHaveURL(/per_device_train_batch_size=4/);
  await expect(page.locator(".assumed")).not.toContainText("Micro-batch");
});

test("what PyTorch only caches is named beside the verdict and beside the chart", async ({ page }) => {
  await open(
    page,
    encode({
      model: "Qwen/Qwen2.5-0.5B",
      peft: null,
      hardware: { gpu: "rtx-4090" },
      training: { per_device_train_batch_size: 8, max_length: 1024, bf16: true },
    }),
  );
  await wholeAnswer(page);
  const [, shown] = /nvidia-smi shows ([\d.]+.GiB)/.exec(await page.locator(".sum").innerText()) ?? [];
  expect(shown).toBeDefined();
  const needed = /Needs ([\d.]+) of/.exec(await page.locator(".sum").innerText())?.[1];
  const caption = page.locator("#hull-title ~ .caption");
  await expect(caption).toContainText(`all ${shown}`);
  await expect(caption).toContainText(`${needed}\u00a0GiB are needed`);
});

test("a rented machine names the batch of each card, and which prices count", async ({ page }) => {
  await open(page, RUN);
  await wholeAnswer(page);
  await showTab(page, "cost");
  const rents = page.locator(".rents");
  await expect(rents).toContainText("Cheapest without a fix");
  await expect(page.locator("#rent-title + .caption")).toContainText("price has a date");
  await expect(rents).toContainText(/micro-batch \d+, accumulation \d+/);
});

for (const locale of ["en", "de"]) {
  test.describe(locale, () => {
    test.use({ locale });
    test("the masthead and the navigation stand apart", async ({ page }) => {
      await open(page);
      for (const width of [1280, 900, 360]) {
        await page.setViewportSize({ width, height: 800 });
        const words = await page.locator(".masthead > p").boundingBox();
        const nav = await page.locator("body > nav .pages").boundingBox();
        if (!words || !nav) throw new Error("not drawn");
        const apart =
          words.x + words.width <= nav.x || words.y + words.height <= nav.y || nav.y + nav.height <= words.y;
        expect([width, apart]).toEqual([width, true]);
      }
    });
  });
}

test("the cheapest machine of the card is the one that leads the list of costs, whatever is locked", async ({
  page,
}) => {
  await open(page);
  await paste(page, "QLoRA of Llama 3.1 8B on an A100 80GB at 8192 tokens, batch size 4");
  await expect(headline(page)).toContainText("A100");
  for (const locks of [0, 1]) {
    if (locks > 0) await page.getByRole("button", { name: "Plans leave this as it is: Micro-batch" }).click();
    await wholeCard(page);
    const chip = page.locator(".limits:not(.stale) button", { hasText: "Cheapest: " });
    const price = /\$[\d.,]+/.exec(await chip.innerText())?.[0] ?? "?";
    await showTab(page, "cost");
    const lead = page.locator(".rents li").first();
    await expect(lead).toContainText("Cheapest that works");
    await expect(lead).toContainText(price);
  }
});
