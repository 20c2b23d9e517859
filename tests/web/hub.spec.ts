// A model that no preset holds: its config.json comes from Hugging Face when the person says so, and not before.
import type { Page } from "@playwright/test";
import { choose, expect, headline, open, test, UNKNOWN_MODEL } from "./page.ts";

const HUB = "https://huggingface.co";
test.use({ hosts: [HUB] });

/** Stands in for Hugging Face; says what it has been asked. */
async function standIn(page: Page, answer: { status: number; body?: string } | "dead"): Promise<string[]> {
  const asked: string[] = [];
  await page.route(`${HUB}/**`, async (route) => {
    asked.push(new URL(route.request().url()).pathname);
    if (answer === "dead") return route.abort();
    await route.fulfill({ ...answer, headers: { "Access-Control-Allow-Origin": "*" } });
  });
  return asked;
}

async function name(page: Page, id: string): Promise<void> {
  const model = page.getByRole("combobox", { name: "Model", exact: true });
  await model.fill(id);
  await model.blur();
}

const button = (page: Page) => page.getByRole("button", { name: /Read its config\.json from Hugging Face/ });

test("nothing is asked before the button is pressed; then the model is known by its name", async ({
  page,
}) => {
  const asked = await standIn(page, { status: 200, body: JSON.stringify(UNKNOWN_MODEL) });
  await open(page);
  await choose(page, "GPU", "RTX 4090");
  await page.getByLabel("Max length", { exact: true }).fill("1024");
  await page.getByLabel("LoRA, 16-bit", { exact: true }).check();
  await name(page, "somebody/new-model-1B");
  await expect(button(page)).toBeVisible();
  expect(asked).toEqual([]);
  await button(page).click();
  await expect(headline(page)).toContainText("Fits the GeForce RTX 4090");
  await expect(page.getByLabel("Model", { exact: true })).toHaveValue("somebody/new-model-1B");
  // Method, card and length are the person's own.
  await expect(page.getByLabel("Max length", { exact: true })).toHaveValue("1024");
  await expect(page.getByLabel("LoRA, 16-bit", { exact: true })).toBeChecked();
  expect(asked).toEqual(["/somebody/new-model-1B/resolve/main/config.json"]);
});

for (const [what, answer, says] of [
  ["gated", { status: 401 }, "signed in and admitted, or there is no such model"],
  ["without a config.json", { status: 404 }, "has no config.json of this model"],
  [
    "that is something else",
    { status: 200, body: '{"hello": "world"}' },
    "no kind of model that Plimsoll knows",
  ],
  ["out of reach", "dead", "could not be reached"],
] as const) {
  test(`a model ${what} gets a plain answer, and what to do instead`, async ({ page }) => {
    await standIn(page, answer);
    await open(page);
    await name(page, "somebody/new-model-1B");
    await button(page).click();
    await expect(page.locator(".message")).toContainText(says);
    await expect(page.locator(".message")).toContainText("paste or drop it here");
    await expect(button(page)).toBeEnabled();
  });
}

test("a name that Hugging Face could not have is not offered to it", async ({ page }) => {
  await open(page);
  await name(page, "no such model");
  await expect(page.locator(".message, .complaint").first()).toBeVisible();
  await expect(button(page)).toHaveCount(0);
});
