// Plans are applied and undone, a request is compared with another, the map tries a cell.
import { encode } from "../../web/src/link.ts";
import { expect, figure, gibOf, headline, open, paste, RUN, showTab, test } from "./page.ts";

const TOO_LARGE = {
  model: "mistral-7b-v0.3",
  peft: { r: 16, target_modules: ["q_proj", "v_proj"] },
  model_args: { dtype: "float16" },
  training: { per_device_train_batch_size: 4, gradient_accumulation_steps: 4, max_length: 2048, fp16: true },
  hardware: { gpu: "a10g" },
};

test("a plan makes it fit with one click, keeps the effective batch, and is undone with another", async ({
  page,
}) => {
  await open(page, encode(TOO_LARGE));
  await expect(headline(page)).toContainText("Does not fit");
  const card = page.locator(".plan").first();
  await expect(card).toContainText("Effective batch 16");
  await card.getByRole("button", { name: "Apply" }).click();
  await expect(headline(page)).toContainText("Fits the A10G");
  const [batch, accumulation] = await Promise.all(
    ["Micro-batch", "Accumulation"].map(async (label) => {
      const input = page.getByLabel(label, { exact: true });
      return Number((await input.inputValue()) || (await input.getAttribute("placeholder")));
    }),
  );
  expect((batch ?? 0) * (accumulation ?? 0)).toBe(16);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(headline(page)).toContainText("Does not fit");
  await page.goBack();
  await expect(headline(page)).toContainText("Fits the A10G");
});

test("the verdict itself names the fewest changes that make it fit, one click away", async ({ page }) => {
  await open(page, encode(TOO_LARGE));
  const ways = page.locator(".verdict .ways li");
  await expect(ways.first()).toContainText(/needs [\d.]+.GiB/);
  expect(await ways.count()).toBeLessThanOrEqual(3);
  const promised = /needs ([\d.]+)/.exec(await ways.first().innerText())?.[1] ?? "";
  await ways.first().getByRole("button", { name: "Apply" }).click();
  await expect(headline(page)).toContainText("Fits the A10G");
  await expect(ways).toHaveCount(0);
  await expect(page.locator(".verdict")).toContainText(`Needs ${promised} of`);
  // What happened is said in the card, where it was asked for.
  await expect(page.locator(".verdict .undo")).toContainText("Applied: ");
  await expect(page.locator(".verdict .undo button")).toBeInViewport();
  await page.goBack();
  await expect(headline(page)).toContainText("Does not fit");
});

test("a plan is copied as a table of before and after with a reason for each row", async ({
  page,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open(page, encode(TOO_LARGE));
  const card = page.locator(".plan").first();
  const fields = card.locator("tbody th code");
  await expect(fields).not.toHaveCount(0);
  const changes = await fields.allTextContents();
  await card.getByRole("button", { name: "Copy before and after" }).click();
  await expect(page.locator(".told").first()).toContainText("Done");
  const lines = (await page.evaluate(() => navigator.clipboard.readText())).split("\n");
  expect(lines[0]).toBe("| Change | before | after | Why | Saves |");
  const rows = lines
    .filter((line) => line.startsWith("| "))
    .map((line) => line.split(/(?<!\\)\|/).slice(1, -1));
  for (const row of rows) expect(row.length).toBe(5);
  for (const name of changes)
    expect(rows.some(([first]) => first?.replaceAll("\\", "").trim() === name)).toBe(true);
  await expect(headline(page)).toContainText("Does not fit");
});

test("the plan's own figure is what the page then shows", async ({ page }) => {
  await open(page, encode(TOO_LARGE));
  const card = page.locator(".plan").first();
  // Not innerText: a panel out of sight may not be laid out (content-visibility).
  const words = (await card.locator("p b").first().textContent()) ?? "";
  const promised = Number.parseFloat(words.replaceAll(",", ""));
  await card.getByRole("button", { name: "Apply" }).click();
  await expect(headline(page)).toContainText("Fits");
  // The panel of figures is drawn after the verdict.
  await expect.poll(() => gibOf(page, "nvidia-smi shows")).toBeCloseTo(promised, 2);
});

test("what a plan leaves to spare is what the headline then says", async ({ page }) => {
  await open(page, encode(TOO_LARGE));
  const plan = page.locator(".plan").first();
  const name = (await plan.locator("tbody th").first().textContent())?.trim().split("\n")[0]?.trim();
  const spare = /with ([\d.]+\u00a0GiB) to spare/.exec((await plan.textContent()) ?? "")?.[1];
  await plan.getByRole("button", { name: "Apply" }).click();
  // What was done is named, by whichever button.
  await expect(page.locator(".undo")).toContainText(`Applied: ${name ?? "?"}`);
  await expect(headline(page)).toContainText(`${spare ?? "?"} to spare`);
});

test("a locked field is in no plan", async ({ page }) => {
  await open(
    page,
    encode({ ...TOO_LARGE, locks: ["training.max_length", "training.gradient_checkpointing"] }),
  );
  await expect(page.locator("section:not([aria-busy]) > #plans-title")).toBeVisible();
  await expect(page.locator(".plan").first().or(page.locator("text=No plan fits"))).toBeVisible();
  await expect(page.locator(".plan code", { hasText: "training.gradient_checkpointing" })).toHaveCount(0);
  await expect(page.locator(".plan code", { hasText: "training.max_length" })).toHaveCount(0);
});

test("two requests are compared, and the differences add up", async ({ page }) => {
  await open(page, encode(TOO_LARGE));
  await showTab(page, "compare");
  await page.getByRole("button", { name: "Compare against this" }).click();
  await page.getByLabel("Gradient checkpointing", { exact: true }).check();
  await page.getByLabel("Max length", { exact: true }).fill("1024");
  const rows = page.locator(".compare tbody tr");
  await expect(rows).toHaveCount(2);
  await expect(page.locator(".compare")).toContainText("training.gradient_checkpointing");
  // The panel of figures is drawn after the table.
  await expect(async () => {
    const shown = (await figure(page, "nvidia-smi shows").innerText()).trim();
    expect(await page.locator(".compare tfoot").innerText()).toContain(shown);
  }).toPass();
  // Each says whether it fits its card, and with how much to spare.
  const [one, other] = await page
    .locator(".compare tfoot tr", { hasText: "On its card" })
    .locator("td")
    .allInnerTexts();
  expect(one).toMatch(/does not fit, [\d.]+.GiB over/);
  expect(other).toMatch(/fits, [\d.]+.GiB spare/);
  const spare = /fits, ([\d.]+.GiB) spare/.exec(other ?? "")?.[1] ?? "?";
  await expect(headline(page)).toContainText(spare);
  await page.getByRole("button", { name: "Go to A" }).click();
  await expect(page.getByLabel("Max length", { exact: true })).toHaveValue("2048");
});

test("a cell of the map is tried with one click", async ({ page }) => {
  await open(
    page,
    encode({ ...TOO_LARGE, training: { ...TOO_LARGE.training, gradient_checkpointing: true } }),
  );
  await showTab(page, "limits");
  await page.getByRole("button", { name: "Batch 1, 512 tokens: fits" }).click();
  await expect(page.getByLabel("Max length", { exact: true })).toHaveValue("512");
  await expect(headline(page)).toContainText("Fits");
  await expect(page.locator(".undo")).toContainText("Applied: 1 × 512.");
  // Once something else has changed the map is of the request before, and takes no click until the next one is there.
  const held = page.evaluate(
    () =>
      new Promise<string>((done) => {
        const panel = document.querySelector("#limits-title")!.parentElement!;
        new MutationObserver(() => done(panel.className)).observe(panel, { attributeFilter: ["inert"] });
      }),
  );
  await page.getByLabel("Gradient checkpointing", { exact: true }).uncheck();
  expect(await held).toBe("panel stale");
  await expect(page.locator(".panel:has(> #limits-title)")).not.toHaveAttribute("inert");
});

test("how far a run that generates can go is tried with one click: its prompts and completions take the length", async ({
  page,
}) => {
  await open(page);
  await paste(
    page,
    "GRPO of Qwen2.5-7B-Instruct with LoRA rank 32 and vLLM colocated on one A100 80GB, 8 generations, 512 prompt, 1024 completion",
  );
  await expect(headline(page)).toContainText("A100"); // and no longer the example's
  const most = page.locator(".limits:not(.stale)").getByRole("button", { name: /^Up to [\d,]+ tokens$/ });
  const words = (await most.innerText()).trim();
  await most.click();
  await expect(page.locator(".undo")).toContainText(words);
  await expect(headline(page)).toContainText("Fits");
  await expect(page).not.toHaveURL(/training\.max_length/);
  await showTab(page, "limits");
  for (const length of ["2,048", "512"]) {
    await page.getByRole("button", { name: `Batch 1, ${length} tokens: fits` }).click();
    await expect(page.locator(".undo")).toContainText(`1 × ${length}.`);
    await expect(headline(page)).toContainText("Fits");
    await expect(page.locator(".map .mine")).toHaveCount(1);
  }
  await expect(page).toHaveURL(/max_completion_length=256/);
});

test("the timeline walks through the step by keyboard", async ({ page }) => {
  await open(page);
  await showTab(page, "timeline");
  const slider = page.getByLabel("Moment of the step");
  await expect(slider).toBeVisible();
  const before = await page.locator(".at-work").innerText();
  await slider.focus();
  await page.keyboard.press("Home");
  await expect(page.locator(".at-work")).toContainText("Load");
  expect(await page.locator(".at-work").innerText()).not.toBe(before);
});

test("the timeline names its unit, and the limit stands out from what it lies on", async ({ page }) => {
  await open(page, encode({ ...TOO_LARGE, hardware: { gpu: "rtx-3090" } }));
  await showTab(page, "timeline");
  await expect(page.locator(".timeline .axis-unit")).toHaveText("GiB");
  await page.getByLabel("Only what changes").uncheck();
  const label = page.locator(".timeline .load-text");
  await expect(label).toHaveText("usable limit");
  const drawn = await label.evaluate((text) => {
    const { paintOrder, stroke, strokeWidth } = getComputedStyle(text);
    const panel = text.closest<HTMLElement>(".panel")!;
    return { paintOrder, halo: stroke === getComputedStyle(panel).backgroundColor, strokeWidth };
  });
  expect(drawn).toEqual({ paintOrder: "stroke", halo: true, strokeWidth: "4px" });
});

test("the timeline says what is there where the pointer is", async ({ page }) => {
  await open(page);
  await showTab(page, "timeline");
  const chart = page.locator(".timeline");
  await expect(chart).toBeVisible();
  await chart.hover({ position: { x: 60, y: 120 } });
  await expect(page.locator(".at-work")).toContainText("Forward");
  const early = await page.locator(".at-work").innerText();
  const width = (await chart.boundingBox())?.width ?? 0;
  await chart.hover({ position: { x: width - 30, y: 120 } });
  await expect(page.locator(".at-work")).not.toHaveText(early);
  await expect(page.locator(".at-work + ul")).toContainText("Weights");
});

test("the timeline names the tensors alive at the moment that is chosen, whichever it is", async ({
  page,
}) => {
  await open(page);
  await showTab(page, "timeline");
  const slider = page.getByLabel("Moment of the step");
  await expect(slider).toBeVisible();
  const fold = page.locator("details", { hasText: "The tensors alive" }).last();
  await expect(fold.locator("summary")).toContainText("at the peak");
  await fold.locator("summary").click();
  // What the rows of the open list add up to, against the figure that is read out.
  const difference = async () => {
    const sums = await fold.locator("tbody tr td.number:last-child").allInnerTexts();
    const sum = sums.reduce((all, one) => all + (one.startsWith("<") ? 0 : Number(one)), 0);
    const said = await page.locator(".at-work").innerText();
    const size = /([\d.]+)\u00a0GiB/.exec(said)?.[1] ?? "";
    return Math.abs(sum / Number(size) - 1);
  };
  // Each sum is rounded to a hundredth of a GiB.
  await expect.poll(difference).toBeLessThan(0.02);
  await slider.focus();
  for (const key of ["Home", "End"]) {
    await page.keyboard.press(key);
    await expect(fold.locator("summary")).not.toContainText("at the peak");
    await expect.poll(difference).toBeLessThan(0.02);
  }
  await slider.fill("150");
  await expect(page.getByText("Largest of what comes and goes:")).toBeVisible();
});

test("which GPU to rent is answered with a machine that one press takes", async ({ page }) => {
  await open(page, RUN);
  await showTab(page, "cost");
  const panel = page.locator("section", {
    has: page.getByRole("heading", { name: "Which GPU should I rent?" }),
  });
  await expect(panel).toContainText("Cheapest that works");
  // Speed hangs on no date of a price.
  await expect(panel.locator("li", { hasText: "Fastest" })).not.toContainText("L40S");
  const first = panel.locator("li").first();
  const card = (await first.innerText()).match(/: (?:\d+ × )?(.+?) \(/)![1]!;
  await first.getByRole("button", { name: /^Use/ }).click();
  await expect(headline(page)).toContainText(card);
  await expect(headline(page)).toContainText("Fits");
});

test("hours and cost of the whole run are listed for machines to rent", async ({ page }) => {
  await open(page);
  await expect(page.locator(".machines tbody tr").first()).toContainText(/h|days/);
});

test("where no setting makes it fit, the verdict offers the stack that does", async ({ page }) => {
  await open(
    page,
    encode({
      model: "openai/gpt-oss-20b",
      peft: { r: 8, target_modules: "all-linear" },
      quantization: { load_in_4bit: true },
      training: {
        per_device_train_batch_size: 1,
        max_length: 4096,
        bf16: true,
        gradient_checkpointing: true,
      },
      hardware: { gpu: "rtx-4090" },
    }),
  );
  await expect(headline(page)).toContainText("Does not fit");
  const ways = page.locator(".verdict .ways li");
  await expect(ways).toHaveCount(1);
  await expect(ways).toContainText("The same run with Unsloth");
  // The tab below says the same, open, and no longer that nothing fits.
  await expect(page.locator(".rest details[open]")).toContainText("The same run with Unsloth");
  // What it needs at most is the upper end of what the verdict says then.
  const most = /needs at most ([\d.]+)/.exec((await ways.textContent()) ?? "")?.[1];
  await ways.getByRole("button").click();
  await expect(headline(page)).toContainText("Fits the GeForce RTX 4090");
  await expect(page.locator(".verdict .sum")).toContainText(`and ${most ?? "?"} GiB`);
});

test("a plan needs as much in the list as on the card, also where a paged optimizer moves states to RAM", async ({
  page,
}) => {
  await open(
    page,
    encode({
      model: "Qwen/Qwen2.5-7B",
      task: "grpo",
      stack: "trl",
      peft: null,
      training: { per_device_train_batch_size: 1, gradient_accumulation_steps: 8, bf16: true },
      rl: { use_vllm: true, max_prompt_length: 1024 },
      hardware: { gpu: "h100-sxm" },
    }),
  );
  const first = page.locator(".verdict .ways li").first();
  await expect(first).toContainText("Paged 8-bit AdamW");
  const onCard = Number(/needs ([\d.]+)/.exec((await first.textContent()) ?? "")?.[1]);
  const inList = Number.parseFloat(
    (await page.locator(".plan").first().locator("p > b").textContent()) ?? "",
  );
  expect(Math.abs(inList - onCard)).toBeLessThanOrEqual(0.051);
});

test("while a question is open, the plans are for the size of the card that is named", async ({ page }) => {
  await open(page);
  await paste(page, "full finetune gemma 3 12b on 4 H100, sequence length 8192, deepspeed zero 3");
  await expect(page.locator("#plan-tier")).toHaveValue("80");
  await open(page, encode({ model: "Qwen/Qwen3-14B", hardware: { gpu: "rtx-5090" } }));
  await expect(page.locator("#plan-tier")).toHaveValue("32");
});
