import { choose, expect, headline, open, paste, test, unfold } from "./page.ts";

test("every documented case opens with one click, before and after", async ({ page }) => {
  await open(page);
  await unfold(page, "Examples");
  const buttons = page.locator("[data-scenario]");
  const ids = await buttons.evaluateAll((all) => all.map((each) => each.getAttribute("data-scenario") ?? ""));
  for (const letter of ["a", "b", "c", "d", "e"]) {
    for (const state of ["before", "after"]) {
      expect(ids.some((id) => id.startsWith(`${letter}-`) && id.endsWith(`-${state}`))).toBe(true);
    }
  }
  for (const id of ids) {
    const button = page.locator(`[data-scenario="${id}"]`);
    await button.click();
    await expect(button).toHaveAttribute("aria-pressed", "true");
    await expect(page.locator("[data-scenario][aria-pressed=true]")).toHaveCount(1);
    await expect(page.locator(".message"), id).toHaveCount(0);
    await expect(headline(page)).not.toBeEmpty();
  }
});

test("the first thing that is said leaves the example, and Back leads to it again", async ({ page }) => {
  await open(page);
  await page.getByLabel("Max length", { exact: true }).fill("300");
  await expect(page.locator("plimsoll-app .shown")).toHaveText("Your request");
  await expect(page).toHaveURL(
    /#v=1&training\.max_length=300&training\.bf16=true&training\.per_device_train_batch_size=1&training\.gradient_checkpointing=true&c=/,
  );
  await expect(headline(page)).toHaveText("Which run is it?");
  await expect(page.locator(".ask")).toHaveCount(2);
  await page.goBack();
  await expect(page.locator("plimsoll-app .shown")).toContainText("Example: Mistral-7B LoRA on an A10G");
});

test("an example is gone on from only by whoever says so", async ({ page }) => {
  await open(page);
  await page.getByRole("button", { name: "Edit this example" }).click();
  await expect(page.getByLabel("Model", { exact: true })).toBeFocused();
  await page.getByLabel("Max length", { exact: true }).fill("300");
  await expect(page).toHaveURL(/model=mistralai\/Mistral-7B-v0\.3&.*max_length=300&.*gpu=a10g/);
  await expect(headline(page)).toContainText("Fits the A10G");
});

test("what the author of a case wrote can be read beside the answer", async ({ page }) => {
  await open(page);
  await page.getByText("What its author wrote").click();
  await expect(page.locator(".claims")).toContainText("168 hours without a failure");
});

// Forward passes of later steps carry the optimizer's states; a run that dies in its first step dies elsewhere.
test("the first step has a peak of its own where later ones are fuller", async ({ page }) => {
  await open(page);
  await unfold(page, "Examples");
  await page.locator('[data-scenario="c-before"]').click();
  await expect(page.locator("table.instants caption")).toContainText(
    "In the first step the peak is another: Optimizer step, 20.2 GiB allocated.",
  );
  await page.locator('[data-scenario="d-after"]').click();
  await expect(page.locator("table.instants caption")).not.toContainText("In the first step");
});

test("a run begun here has micro-batch 1, said as an assumption; a pasted file has its trainer's", async ({
  page,
}) => {
  await open(page);
  await choose(page, "Model", "Qwen/Qwen3-8B");
  const chip = page.locator(".chips button", { hasText: "Micro-batch: 1" });
  await expect(chip).toBeVisible();
  await chip.click();
  const batch = page.getByLabel("Micro-batch", { exact: true });
  await expect(batch).toBeFocused();
  await expect(batch).toHaveValue("1");
  await paste(page, "model_name_or_path: gpt2\nstage: sft\nfinetuning_type: lora\ncutoff_len: 512\n");
  await expect(page.getByLabel("Max length", { exact: true })).toHaveValue("512");
  await expect(batch).toHaveValue("");
  await expect(batch).toHaveAttribute("placeholder", "8");
  await batch.fill("2");
  await expect(chip).toHaveCount(0);
});
