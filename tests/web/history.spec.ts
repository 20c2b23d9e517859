// The history of the browser: Back leads to what was there before, and never off the page by surprise; a reload loses nothing.
import { expect, headline, open, paste, RUN, showTab, test, wholeAnswer } from "./page.ts";

const COMMAND =
  "python train.py --model_name_or_path meta-llama/Llama-3.1-8B --per_device_train_batch_size 2 --max_length 2048 --use_peft --lora_r 16 --bf16";
const AXOLOTL =
  "base_model: Qwen/Qwen3-8B\nadapter: lora\nlora_r: 16\nmicro_batch_size: 2\nsequence_len: 4096\n";

test("Back after a paste leads to the request before, with the text that it came from", async ({ page }) => {
  await open(page);
  const chip = page.locator("plimsoll-paste #found-title");
  await paste(page, COMMAND);
  await expect(chip).toContainText("Command line");
  await expect(page).toHaveURL(/Llama-3\.1-8B/);
  // A file of another run takes the place of the command.
  await paste(page, AXOLOTL);
  await expect(chip).toContainText("Axolotl");
  await expect(page).toHaveURL(/Qwen3-8B.*max_length=4096/);
  await page.goBack();
  await expect(page).toHaveURL(/Llama-3\.1-8B.*max_length=2048/);
  await expect(chip).toContainText("Command line");
  await page.goBack();
  await expect(page.locator("plimsoll-app .shown")).toContainText("Example: ");
  await expect(chip).toHaveCount(0);
  await expect(page.locator("#paste-text")).toHaveValue("");
  await page.goForward();
  await expect(chip).toContainText("Command line");
});

test("a question that was answered is asked again when Back leads before the answer", async ({ page }) => {
  await open(page);
  await paste(page, "QLoRA of Llama 3.1 8B on an RTX 4090, batch size 1");
  const ask = page.locator(".ask", { hasText: "How long are your samples" });
  await ask.getByRole("button", { name: "2,048" }).click();
  await expect(headline(page)).toContainText("RTX 4090");
  await page.goBack();
  await expect(ask).toBeVisible();
  await page.reload();
  await expect(ask).toBeVisible();
});

test("Back leads from the tabs to the request as it was first shown, and not off the page", async ({
  page,
}) => {
  await open(page, RUN);
  const first = await headline(page).innerText();
  for (const tab of ["limits", "cost", "breakdown"]) await showTab(page, tab);
  await expect(page).toHaveURL(/&tab=breakdown$/);
  await page.goBack();
  await expect(page.getByRole("tab", { name: "Fixes" })).toHaveAttribute("aria-selected", "true");
  await expect(page).not.toHaveURL(/tab=/);
  await expect(headline(page)).toHaveText(first);
  await page.goForward();
  await expect(page.getByRole("tab", { name: "Breakdown" })).toHaveAttribute("aria-selected", "true");
});

test("what is kept for a comparison is still kept after a reload, and goes with the link", async ({
  page,
}) => {
  await open(page, RUN);
  await wholeAnswer(page);
  await showTab(page, "compare");
  await page.getByRole("button", { name: "Compare against this" }).click();
  await page.getByLabel("Max length", { exact: true }).fill("1024");
  const row = page.locator("table.compare tbody tr", { hasText: "max_length" });
  await expect(row).toContainText("256");
  await expect(page).toHaveURL(/max_length=1024/);
  await page.reload();
  await expect(row).toContainText("256");
  await expect(row).toContainText("1024");
  // Nobody else has the history that it was kept in; on a phone the tab stands beyond the edge.
  const link = page.url();
  await page.goto("about:blank");
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(link);
  await expect(row).toContainText("256");
  await expect(headline(page)).toContainText("Fits");
  expect((await page.locator("#tab-compare").boundingBox())?.x).toBeLessThan(360);
});
