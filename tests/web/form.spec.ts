import type { Core } from "../../web/src/core.ts";
import { encode } from "../../web/src/link.ts";
import { choose, expect, figure, gibOf, headline, open, RUN, test, unfold, wholeCard } from "./page.ts";

test("another model changes the verdict and the numbers", async ({ page }) => {
  await open(page, RUN);
  await expect(headline(page)).toContainText("Fits");
  const before = await gibOf(page, "nvidia-smi");
  await choose(page, "Model", "meta-llama/Llama-2-13b-hf");
  await expect(headline(page)).toContainText("Does not fit");
  await expect.poll(() => gibOf(page, "nvidia-smi")).toBeGreaterThan(before + 8);
  await expect(figure(page, "Trainable")).toContainText("of 13.03");
});

test("half a model's name is not an error until it is left", async ({ page }) => {
  await open(page, RUN);
  const model = page.getByLabel("Model", { exact: true });
  await model.fill("no-such-mod");
  await expect(page.locator(".message")).toHaveCount(0);
  await model.blur();
  await expect(page.locator("#field-model-error")).toContainText("no-such-mod");
  await expect(model).toHaveAttribute("aria-invalid", "true");
});

test("every GPU of the list gives an answer of its own", { tag: "@whole" }, async ({ page }) => {
  test.slow();
  await open(page, RUN);
  const names = await page.evaluate(() => {
    const { core } = (document.querySelector("plimsoll-app") as unknown as { view: { core: Core } }).view;
    return core.gpus.map(({ name }) => name);
  });
  expect(names.length).toBeGreaterThan(70);
  for (const name of names) {
    await choose(page, "GPU", name);
    // What runs on a chip of Apple's is not replayed.
    if (name.startsWith("Apple")) await expect(page.locator(".verdict .ask")).toContainText([name]);
    else await expect(headline(page)).toContainText(name);
  }
});

test("each method weighs what it should against the others", async ({ page }) => {
  await open(page, RUN);
  const sizes: Record<string, number> = {};
  let last = await gibOf(page, "PyTorch allocates");
  for (const name of ["Full, 16-bit", "LoRA, 16-bit", "QLoRA, NF4", "LoRA, 8-bit"]) {
    await page.getByLabel(name).check();
    await expect(page.getByLabel(name)).toBeChecked();
    await expect(page.locator(".message")).toHaveCount(0);
    // The panel of figures is drawn after the verdict.
    await expect.poll(() => gibOf(page, "PyTorch allocates")).not.toBe(last);
    sizes[name] = last = await gibOf(page, "PyTorch allocates");
  }
  expect(sizes["QLoRA, NF4"]).toBeLessThan(sizes["LoRA, 8-bit"] ?? 0);
  expect(sizes["LoRA, 8-bit"]).toBeLessThan(sizes["LoRA, 16-bit"] ?? 0);
  expect(sizes["LoRA, 16-bit"]).toBeLessThan(sizes["Full, 16-bit"] ?? 0);
});

test("coming back to a method restores its rank", async ({ page }) => {
  await open(page, RUN);
  await unfold(page, "Adapters");
  await page.getByLabel("Rank", { exact: true }).fill("64");
  await expect(figure(page, "Trainable")).toContainText("27,262,976");
  await page.getByLabel("Full, 16-bit", { exact: true }).check();
  await expect(page.getByLabel("Rank", { exact: true })).toHaveCount(0);
  await page.getByLabel("LoRA, 16-bit", { exact: true }).check();
  await expect(page.getByLabel("Rank", { exact: true })).toHaveValue("64");
});

test("the listed choices are all known to the core", async ({ page }) => {
  await open(page, RUN);
  for (const heading of ["Adapters", "Precision", "Step and kernels", "Library and card"]) {
    await unfold(page, heading);
  }
  for (const label of [
    "Weights held in",
    "Mixed precision",
    "Training stack",
    "Attention",
    "Target modules",
  ]) {
    const select = page.getByLabel(label, { exact: true });
    const first = await select.inputValue();
    const values = await select
      .locator("option")
      .evaluateAll((options) => options.map((option) => (option as HTMLOptionElement).value));
    for (const value of values.filter((each) => each !== "-1")) {
      await select.selectOption(value);
      await expect(page.locator(".message"), `${label}: ${value}`).toHaveCount(0);
    }
    await select.selectOption(first);
  }
});

test("choices have the names that people know them by", async ({ page }) => {
  await open(page, RUN);
  await page.getByLabel("GPUs", { exact: true }).fill("2");
  await expect(page.locator("#field-parallel-strategy")).toBeVisible();
  for (const [id, names] of [
    ["field-model_args-attn_implementation", ["FlashAttention-3", "FlexAttention", "xFormers"]],
    ["field-parallel-strategy", ["DeepSpeed ZeRO-0", "DeepSpeed ZeRO-3"]],
    ["field-training-optimizer_offload", ["states + gradients"]],
  ] as const) {
    const options = await page.locator(`#${id} option`).allTextContents();
    expect(options.map((each) => each.trim())).toEqual(expect.arrayContaining([...names]));
    expect(options.filter((each) => /^zero\d|_attention|_and_/.test(each.trim()))).toEqual([]);
  }
});

test("seven inputs are in sight, and a fold says what is set in it", async ({ page }) => {
  await open(page);
  for (const label of ["Model", "GPU", "Micro-batch", "Max length", "Optimizer", "Gradient checkpointing"]) {
    await expect(page.getByLabel(label, { exact: true })).toBeInViewport();
  }
  await expect(page.getByLabel("LoRA, 16-bit", { exact: true })).toBeInViewport();
  await expect(page.getByLabel("Rank", { exact: true })).toBeHidden();
  await expect(page.locator(".more > summary", { hasText: "Adapters" })).toContainText("Rank 16");
  await wholeCard(page);
  await expect(page.locator(".hull-chart")).toBeInViewport({ ratio: 1 });
});

test("a wrong value in a fold is marked on the fold, and the way to it opens it", async ({ page }) => {
  await open(page, RUN);
  await unfold(page, "Adapters");
  await page.getByLabel("Rank", { exact: true }).fill("-1");
  const fold = page.locator(".more > summary", { hasText: "Adapters" });
  await expect(fold).toContainText("Fix this");
  await fold.click();
  await expect(page.getByLabel("Rank", { exact: true })).toBeHidden();
  await page.locator(".message .link").click();
  await expect(page.getByLabel("Rank", { exact: true })).toBeFocused();
});

test("checkpointing and length move the numbers the way they should", async ({ page }) => {
  await open(page, RUN);
  await page.getByLabel("Max length", { exact: true }).fill("4096");
  const kept = await gibOf(page, "PyTorch allocates");
  await page.getByLabel("Gradient checkpointing", { exact: true }).uncheck();
  await expect.poll(() => gibOf(page, "PyTorch allocates")).toBeGreaterThan(kept);
});

test("a value that the core refuses is explained at its input, and the old verdict is gone", async ({
  page,
}) => {
  // By a name that is no preset's own: what is offered is tried all the same.
  await open(page, encode({ model: "Llama-3.1-8B", hardware: { gpu: "l40s" }, training: { bf16: true } }));
  const length = page.getByLabel("Max length", { exact: true });
  for (const bad of ["0", "-5", "1.5", "many"]) {
    await length.fill(bad);
    await expect(length).toHaveAttribute("aria-invalid", "true");
    await expect(page.locator("#field-training-max_length-error")).not.toBeEmpty();
    await expect(page.locator(".message")).toContainText("training.max_length");
    await expect(page.locator(".verdict, .rest")).toHaveCount(0);
    expect(await length.inputValue()).toBe(bad);
  }
  // A repair is a button: what was typed, as it may have been meant, or the default.
  await length.fill("-5");
  await page.locator(".message .repair", { hasText: "use the default" }).click();
  await expect(length).toHaveValue("");
  await expect(page.locator(".verdict")).toBeVisible();
  await length.fill("many");
  await page.locator(".message .link").click();
  await expect(length).toBeFocused();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(length).toHaveValue("");
  await length.fill("256");
  await expect(page.locator(".message")).toHaveCount(0);
  await expect(page.locator(".verdict")).toBeVisible();
});

test("a number that is out of its range has a repair before a model is chosen, too", async ({ page }) => {
  await open(page);
  const batch = page.getByLabel("Micro-batch", { exact: true });
  await batch.fill("0");
  await page.locator(".message .repair", { hasText: "1" }).first().click();
  await expect(batch).toHaveValue("1");
  await expect(page.locator(".message")).toHaveCount(0);
});

test("several wrong values are all named at once", async ({ page }) => {
  await open(page, RUN);
  await page.getByLabel("Max length", { exact: true }).fill("-1");
  await page.getByLabel("Micro-batch", { exact: true }).fill("0");
  await expect(page.locator(".message li")).toHaveCount(2);
});

test("an emptied input leaves the value to the core, and shows what the core takes", async ({ page }) => {
  await open(page, RUN);
  const batch = page.getByLabel("Micro-batch", { exact: true });
  await batch.fill("");
  await expect(batch).toHaveAttribute("placeholder", "8");
  await expect(page.locator(".message")).toHaveCount(0);
});

test("arrow keys step through the round values", async ({ page }) => {
  await open(page, RUN);
  const length = page.getByLabel("Max length", { exact: true });
  await length.fill("500");
  await length.press("ArrowUp");
  await expect(length).toHaveValue("512");
  await length.press("ArrowDown");
  await expect(length).toHaveValue("384");
});

test("the request can be edited as JSON, and the form follows", async ({ page }) => {
  await open(page, RUN);
  await page.getByText("The whole request, as JSON").click();
  const text = page.getByLabel("Request", { exact: true });
  await expect(text).toHaveValue(/"mistralai\/Mistral-7B-v0.3"/);
  await text.fill('{"model": "qwen2.5-7b", "training": {"max_length": 777}}');
  await expect(page.getByLabel("Max length", { exact: true })).toHaveValue("777");
  await expect(page.getByLabel("Model", { exact: true })).toHaveValue("qwen2.5-7b");
  await expect(page.getByLabel("Full, 16-bit", { exact: true })).toBeChecked();
  await text.fill('{"model": "qwen2.5-7b", "model": "gpt2"}');
  await expect(page.locator(".message")).toContainText(/twice|duplicate/i);
  await text.fill('{"model": "qwen2.5-7b"');
  await expect(page.locator(".message")).not.toBeEmpty();
  await page.getByLabel("Max length", { exact: true }).fill("512");
  await expect(page.locator(".message")).toHaveCount(0);
});

test("the lengths of the data are asked for, explained, and say what a shorter length would cut", async ({
  page,
}) => {
  await open(page, RUN);
  await unfold(page, "Data and its lengths");
  await page.getByLabel("Samples", { exact: true }).fill("20000");
  await page.getByLabel("Mean length", { exact: true }).fill("300");
  for (const [label, tokens] of [
    ["Median length (p50)", "256"],
    ["Length, p90", "600"],
    ["Length, p95", "700"],
    ["Length, p99", "1000"],
    ["Longest", "1400"],
  ] as const) {
    const input = page.getByLabel(label, { exact: true });
    await input.fill(tokens);
    await expect(input).toHaveAccessibleDescription(/samples?/);
  }
  await expect(page).toHaveURL(/data\.p95_length=700/);
  await expect(headline(page)).toContainText("Fits");
  await expect(page.locator("details.more", { hasText: "Data and its lengths" })).toContainText(
    "Samples 20,000",
  );
  await page.getByLabel("Length, p95", { exact: true }).fill("many");
  await expect(page.locator("#field-data-p95_length-error")).toBeVisible();
});

test("a card's name where its count belongs is no count, and the card is offered", async ({ page }) => {
  await open(page, RUN);
  const count = page.getByLabel("GPUs", { exact: true });
  await count.fill("4090");
  await expect(count).toHaveValue("4090");
  await expect(page.locator("#field-parallel-num_gpus-error")).toContainText("4090 is the name of a card");
  await expect(page).not.toHaveURL(/num_gpus/);
  await page.locator("#field-parallel-num_gpus-error").getByRole("button").click();
  await expect(headline(page)).toContainText("GeForce RTX 4090");
  await expect(count).toHaveValue("");
  await expect(page.locator("#field-parallel-num_gpus-error")).toHaveCount(0);
  await count.fill("8");
  await expect(page).toHaveURL(/parallel\.num_gpus=8/);
});
