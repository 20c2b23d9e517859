// docs/keyboard.md, walked: nothing but keys from the first view to an applied plan and back.
import { expect, headline, open, RUN, test } from "./page.ts";

test("the keyboard walk", async ({ page }) => {
  await open(page, RUN);
  const press = (key: string) => page.keyboard.press(key);
  const focused = () => page.evaluate(() => document.activeElement?.id ?? "");
  const tabTo = async (id: string, limit = 40) => {
    for (let step = 0; step < limit && (await focused()) !== id; ++step) await press("Tab");
    expect(await focused()).toBe(id);
  };

  // 1. A fold opens with Enter, and closes.
  await page.locator(".scenarios summary").focus();
  await press("Enter");
  await expect(page.locator("[data-scenario]").first()).toBeVisible();
  await press("Enter");
  await expect(page.locator("[data-scenario]").first()).toBeHidden();

  // 2. A figure of the verdict opens and closes.
  await page.locator("[role=tab][aria-selected=true]").focus();
  for (const _ of ["timeline", "gpus", "limits", "cost", "breakdown"]) await press("ArrowRight");
  expect(await focused()).toBe("tab-breakdown");
  await expect(page).toHaveURL(/&tab=breakdown$/);
  await page.locator(".figures .opens").first().focus();
  await press("Enter");
  await expect(page.locator(".figures ~ .why")).toBeVisible();
  await press("Enter");
  await expect(page.locator(".figures ~ .why")).toBeHidden();

  // 3. The model by its name, the GPU by a part of its name, the length by arrow keys.
  await page.locator("#field-model").focus();
  await page.keyboard.type("qwen2.5-7b");
  await press("Enter");
  await expect(headline(page)).toBeVisible();
  await tabTo("field-hardware-gpu");
  await page.keyboard.type("t4");
  await press("Enter");
  await expect(headline(page)).toContainText("T4");
  await tabTo("field-training-max_length");
  await press("ArrowUp");
  await expect(page.locator("#field-training-max_length")).toHaveValue("384");

  // 4. A part of the answer, and a plan applied and undone.
  await expect(headline(page)).toContainText("Does not fit");
  await page.locator("[role=tab][aria-selected=true]").focus();
  await press("Home");
  expect(await focused()).toBe("tab-fixes");
  await expect(page).not.toHaveURL(/tab=/);
  const before = await headline(page).innerText();
  const apply = page.locator(".plan .apply").first();
  // Plans of the request before the last key take no focus.
  await expect(async () => {
    await apply.focus();
    await expect(apply).toBeFocused({ timeout: 500 });
  }).toPass();
  await press("Enter");
  await expect(headline(page)).not.toHaveText(before);
  // What was done can be undone where the focus has gone.
  await expect(page.getByRole("button", { name: "Undo" })).toBeFocused();
  await expect(page.locator("#verdict-headline")).toBeInViewport();
  await press("Enter");
  await expect(headline(page)).toContainText("Does not fit");

  // 5. The step, moment by moment.
  await page.locator("[role=tab][aria-selected=true]").focus();
  await press("ArrowRight");
  const slider = page.locator(".walk");
  await slider.focus();
  const moment = await page.locator(".at-work").innerText();
  await press("Home");
  await expect(page.locator(".at-work")).not.toHaveText(moment);
});
