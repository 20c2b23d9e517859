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
  const plans = page.locator(".jump button").first();
  await plans.focus();
  await press("Enter");
  expect(await focused()).toBe("plans-title");
  const before = await headline(page).innerText();
  const apply = page.locator(".plan .apply").first();
  await expect(apply).toBeVisible();
  await apply.focus();
  await press("Enter");
  await expect(headline(page)).not.toHaveText(before);
  await page.getByRole("button", { name: "Undo" }).focus();
  await press("Enter");
  await expect(headline(page)).toContainText("Does not fit");

  // 5. The step, moment by moment.
  const slider = page.locator(".walk");
  await slider.focus();
  const moment = await page.locator(".at-work").innerText();
  await press("Home");
  await expect(page.locator(".at-work")).not.toHaveText(moment);
});

test("who has gone to the plans while they are worked out is still there when they come", async ({
  page,
}) => {
  let goOn = () => {};
  const held = new Promise<void>((done) => (goOn = done));
  await page.route("**/assets/more-thread-*.js", async (route) => {
    await held;
    await route.continue();
  });
  await open(page, RUN);
  await page.locator("#field-training-max_length").fill("32768");
  await expect(headline(page)).toContainText("Does not fit");
  await page.locator(".jump button").first().focus();
  await page.keyboard.press("Enter");
  const heading = page.locator("#plans-title");
  await expect(heading).toBeFocused();
  await expect(page.locator(".plan")).toHaveCount(0);
  goOn();
  await expect(page.locator(".plan").first()).toBeVisible();
  await expect(heading).toBeFocused();
});
