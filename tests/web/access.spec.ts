import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { encode } from "../../web/src/link.ts";
import { choose, expect, headline, open, openEveryFold, RUN, test, unfold } from "./page.ts";

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

type Scheme = "light" | "dark" | "forced";

/** All rules in the light; elsewhere nothing but the colours is another. What passes is not written down, which takes as long. */
const axe = (page: Page, scheme: Scheme = "light") =>
  new AxeBuilder({ page }).options({
    runOnly:
      scheme === "light" ? { type: "tag", values: TAGS } : { type: "rule", values: ["color-contrast"] },
    resultTypes: ["violations"],
  });

/** Every tab in turn: what is closed is not looked at. Around the later ones nothing has changed. */
async function clean(page: Page, scheme?: Scheme): Promise<void> {
  for (const [place, tab] of (await page.getByRole("tab").all()).entries()) {
    await tab.click();
    const looked = axe(page, scheme);
    if (place > 0) looked.include("[role=tabpanel]:not([data-closed])");
    const { violations } = await looked.analyze();
    expect(violations, await tab.innerText()).toEqual([]);
  }
}

test("a link to another page is large enough for a pointer, and for a thumb", async ({ page }) => {
  await open(page);
  for (const [width, least] of [
    [1280, 24],
    [360, 40],
  ] as const) {
    await page.setViewportSize({ width, height: 780 });
    for (const link of await page.locator("body > nav a").all()) {
      expect((await link.boundingBox())?.height).toBeGreaterThanOrEqual(least);
    }
  }
});

// Colours are the same at every width, and what stands where is the same in every colour.
for (const [width, colorScheme] of [
  [1280, "light"],
  [320, "dark"],
] as const) {
  const tag = colorScheme === "light" ? [] : ["@whole"];
  test(`axe finds nothing at ${width} px, ${colorScheme}`, { tag }, async ({ page }) => {
    test.slow();
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    await open(page, RUN);
    await openEveryFold(page);
    await clean(page, colorScheme);
    // On a phone the settings are a sheet behind the sentence.
    if (width === 320) await page.locator(".sentence").click();
    await page.getByLabel("Max length", { exact: true }).fill("-1");
    await expect(page.locator(".message")).toBeVisible();
    expect((await axe(page, colorScheme).analyze()).violations).toEqual([]);
  });
}

test("axe finds nothing in forced colours", { tag: "@whole" }, async ({ page }) => {
  await page.emulateMedia({ forcedColors: "active" });
  await open(page);
  await clean(page, "forced");
});

for (const colorScheme of ["light", "dark"] as const) {
  const tag = colorScheme === "light" ? [] : ["@whole"];
  test(`axe finds nothing on the other pages and on the card, ${colorScheme}`, { tag }, async ({ page }) => {
    test.slow();
    await page.emulateMedia({ colorScheme });
    const card = `embed.html${encode({ model: "mistral-7b-v0.3", peft: { r: 16 }, hardware: { gpu: "l4" } })}`;
    for (const [path, drawn] of [
      ["docs/method.html", ".components .panel"],
      ["docs/accuracy.html", ".scatter circle"],
      ["docs/glossary.html", "dt"],
      ["docs/embed.html", "textarea"],
      ["docs/changes.html", "li"],
      [card, "h1"],
    ] as const) {
      await page.goto(`./${path}`);
      await expect(page.locator(drawn).first()).toBeVisible();
      const { violations } = await axe(page, colorScheme).analyze();
      expect(
        violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`),
        path,
      ).toEqual([]);
    }
  });
}

test("nothing scrolls sideways at 320 px, folds open", async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 700 });
  await open(page);
  const wide = () => page.evaluate(() => document.documentElement.scrollWidth);
  await page.locator(".sentence").click();
  await openEveryFold(page.locator(".side"));
  expect(await wide(), "settings").toBe(320);
  await page.getByRole("button", { name: "Done" }).click();
  await openEveryFold(page);
  for (const tab of await page.getByRole("tab").all()) {
    await tab.click();
    await openEveryFold(page);
    if ((await tab.innerText()) === "All GPUs")
      await page.getByRole("button", { name: /^Show all \d+ sizes/ }).click();
    expect(await wide(), await tab.innerText()).toBe(320);
  }
});

test("on a phone the verdict stays in sight while a setting changes, and covers no focused input", async ({
  page,
}) => {
  await page.setViewportSize({ width: 360, height: 640 });
  await open(page);
  // The settings are a sheet that is closed: the box comes first.
  await page.keyboard.press("Tab");
  await expect(page.locator("#paste-text")).toBeFocused();
  const ribbon = page.locator(".ribbon");
  await headline(page).scrollIntoViewIfNeeded();
  await expect(ribbon).toBeHidden();
  await page.locator(".sentence").click();
  const optimizer = page.getByLabel("Optimizer", { exact: true });
  await optimizer.scrollIntoViewIfNeeded();
  await optimizer.focus();
  await expect(ribbon).toBeVisible();
  await expect(ribbon).toContainText(await headline(page).locator("span").last().innerText());
  const input = await optimizer.boundingBox();
  const cover = await ribbon.boundingBox();
  expect((input?.y ?? 0) + (input?.height ?? 0)).toBeLessThanOrEqual(cover?.y ?? 0);
});

test("the keyboard reaches every control in the order of the page", async ({ page }) => {
  await open(page, RUN);
  const seen: string[] = [];
  for (let step = 0; step < 60; ++step) {
    await page.keyboard.press("Tab");
    const name = await page.evaluate(() => {
      const at = document.activeElement;
      if (!at || at === document.body) return "";
      const outline = getComputedStyle(at).outlineStyle;
      return `${at.id || at.textContent?.trim().slice(0, 24) || at.tagName}${outline === "none" ? " (no focus ring)" : ""}`;
    });
    // From the last control the focus goes on to the first.
    if (name !== "" && !seen.includes(name)) seen.push(name);
  }
  expect(seen.filter((name) => name.includes("no focus ring"))).toEqual([]);
  const order = [
    "field-model",
    "field-parallel-num_gpus",
    "field-hardware-gpu",
    "field-training-per_device_train_batch_size",
    "field-training-max_length",
    "field-training-optim",
    "paste-text",
  ];
  expect(seen.filter((name) => order.includes(name))).toEqual(order);
  // What is trained comes before everything else.
  expect(seen.indexOf("field-model")).toBe(0);
});

test("the printed page holds the settings, the answer and the address, without the buttons", async ({
  page,
}) => {
  await open(page, RUN);
  await choose(page, "GPU", "l4");
  await page.emulateMedia({ media: "print" });
  await expect(page.locator("footer .print-only")).toContainText("#v=1&");
  await expect(page.locator(".scenarios")).toBeHidden();
  await expect(page.locator(".breakdown")).toBeVisible();
});

for (const [id, card] of [
  ["d-after", "A10G"],
  ["b-before", "3090"],
] as const) {
  test(`the print sheet of ${id} has two pages`, async ({ page }) => {
    await open(page);
    await unfold(page, "Examples");
    await page
      .locator(`[data-scenario^="${id.charAt(0)}-"][data-scenario$="-${id.slice(2)}"]`)
      .first()
      .click();
    // The plans of this card, not those of the request before it.
    await expect(page.locator("#plan-tier option").first()).toContainText(card);
    const pdf = (await page.pdf({ preferCSSPageSize: true })).toString("latin1");
    expect(pdf.match(/\/Type\s*\/Page[^s]/g)?.length).toBe(2);
  });
}
