// What the page says and offers belongs to the request that stands in it.
import { box, expect, headline, open, showTab, test, wholeAnswer } from "./page.ts";
import { encode } from "../../web/src/link.ts";
import type { Json, Report, Request } from "../../web/src/contract.ts";

const RECIPE = { per_device_train_batch_size: 4, max_length: 4096, bf16: true, gradient_checkpointing: true };
const ADAPTERS = { r: 16, lora_alpha: 32, target_modules: "all-linear" };
const run = (more: Request): Request => ({
  model: "Qwen3-8B",
  training: RECIPE,
  peft: ADAPTERS,
  quantization: null,
  hardware: { gpu: "rtx-4090" },
  ...more,
});

interface App {
  view: { report: Report; advised: Json };
}

test("a plan starts from the figure that the card says is needed", async ({ page }) => {
  await open(page, encode(run({})));
  const plan = page.locator(".plan").first();
  await expect(plan).toBeVisible();
  const needs = await page.evaluate(() => {
    const { report } = (document.querySelector("plimsoll-app") as unknown as App).view;
    const [most, left] = [report.gpu?.usable ?? 0, report.gpu?.headroom ?? 0];
    return { needed: (most - left) / 2 ** 30, device: report.memory.peak.device / 2 ** 30 };
  });
  expect(needs.device).toBeGreaterThan(needs.needed + 1);
  await expect(plan.locator("header ~ p").first()).toContainText(`${needs.needed.toFixed(2)} GiB →`);
  await expect(plan).toContainText(`Savings are counted from ${needs.device.toFixed(2)} GiB`);
});

test("ways out of an earlier request cannot be applied to this one", async ({ page }) => {
  await open(page, encode(run({})));
  await expect(page.locator(".plan").first()).toBeVisible();
  await expect(page.locator(".ways")).not.toHaveAttribute("inert");
  await page.evaluate(() => {
    const app = document.querySelector("plimsoll-app") as unknown as App;
    app.view = { ...app.view, advised: {} };
  });
  await expect(page.locator(".ways.stale")).toHaveAttribute("inert");
  await expect(page.locator("section.stale", { has: page.locator(".plan") })).toHaveAttribute("inert");
});

test("a method on fp32 weights is not called 16-bit", async ({ page }) => {
  await open(page, encode(run({ model_args: { dtype: "float32" } })));
  await expect(page.getByRole("radio", { name: "LoRA, 32-bit" })).toBeChecked();
  await expect(page.getByRole("radio", { name: "LoRA, 16-bit" })).toHaveCount(0);
});

test("each size of GPU is drawn with vLLM's share of that size", async ({ page }) => {
  await open(
    page,
    encode(
      run({
        model: "Qwen2.5-7B",
        stack: "trl",
        task: "grpo",
        training: { ...RECIPE, per_device_train_batch_size: 8 },
        rl: { use_vllm: true, vllm_mode: "colocate", vllm_gpu_memory_utilization: 0.3, num_generations: 8 },
        hardware: { gpu: "h100-sxm" },
      }),
    ),
  );
  await expect(headline(page)).toContainText("H100");
  await wholeAnswer(page);
  await showTab(page, "gpus");
  await page.getByRole("button", { name: /^Show all \d+ sizes/ }).click();
  await expect(page.locator(".tiers tbody tr").filter({ hasText: /^\s*24 GiB/ })).toHaveCount(1);
  const shares = await page.locator(".tiers tbody tr").evaluateAll((rows) => {
    const { report } = (document.querySelector("plimsoll-app") as unknown as App).view;
    return report.tiers.map(({ gib, usable, headroom }) => {
      const row = rows.find((one) => one.textContent?.trim().startsWith(`${gib} GiB`));
      const parts = [...(row?.querySelectorAll("svg rect:not(.hull-body)") ?? [])];
      const drawn = parts.reduce((sum, part) => sum + Number.parseFloat(part.getAttribute("width") ?? ""), 0);
      return { gib, drawn, held: Math.min(100, (66 * (usable - headroom)) / usable) };
    });
  });
  expect(shares.length).toBeGreaterThan(10);
  for (const { gib, drawn, held } of shares) expect(drawn, `${gib} GiB`).toBeCloseTo(held, 0);
});

test("where not even one sequence is sure to fit, the card says so", async ({ page }) => {
  await open(page);
  await box(page).fill("LoRA Llama 3.1 8B at 4k on a 4090, what is the largest batch?");
  await expect(headline(page)).toContainText("Tight on the GeForce RTX 4090");
  await expect(page.locator(".limits:not(.stale)")).toContainText("Not even micro-batch 1 is sure to fit");
});

test("a smaller GPU that is enough for less than the need says that vLLM takes its share", async ({
  page,
}) => {
  await open(page);
  await box(page).fill("GRPO Qwen2.5-7B with colocated vLLM on one H100 80GB");
  await expect(headline(page)).toContainText("Needs");
  await expect(page.locator(".lede").last()).toContainText("vLLM takes its share of each GPU");
});

test("on a phone the settings open on the model", async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await open(page);
  await page.locator(".sentence").click();
  await expect(page.getByLabel("Model", { exact: true })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.locator(".sentence")).toBeFocused();
});

test("whoever names a Mac is asked which Mac", async ({ page }) => {
  await open(page);
  await box(page).fill("MacBook Pro 64 GB, LoRA Llama 3.1 8B, batch 1, length 2048");
  const asked = page.getByRole("group", { name: "Which GPU?" });
  await expect(asked).toContainText("Apple");
  const names = await asked.locator("button:not(.quiet)").allInnerTexts();
  expect(names.filter((name) => !name.startsWith("Apple"))).toEqual([]);
});
