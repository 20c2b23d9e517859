// A second language proves that the words are in one table.
import { readdirSync, readFileSync } from "node:fs";
import type { Core } from "../../web/src/core.ts";
import { CORE, DE, formula } from "../../web/src/words/de.ts";
import { EN as FIRST } from "../../web/src/words/en.ts";
import { EN_REST } from "../../web/src/words/en-rest.ts";
import {
  expect,
  figure,
  headline,
  open,
  openEveryFold,
  paste,
  RUN,
  showTab,
  test,
  unfold,
  wholeAnswer,
} from "./page.ts";

const EN = { ...FIRST, ...EN_REST };

test("both languages fill in the same names", () => {
  const names = (text: string) => [...text.matchAll(/\{[a-z_]+\}/g)].map(([name]) => name).sort();
  for (const key of Object.keys(EN) as (keyof typeof EN)[]) {
    expect([key, names(DE[key])]).toEqual([key, names(EN[key])]);
  }
});

test("the page changes its language and keeps it", async ({ page }) => {
  await open(page);
  await page.getByLabel("Language").selectOption("de");
  await expect(headline(page)).toContainText("Passt auf");
  await expect(page.locator("html")).toHaveAttribute("lang", "de");
  await page.reload();
  await expect(headline(page)).toContainText("Passt auf");
  await page.getByLabel("Sprache").selectOption("en");
  await expect(headline(page)).toContainText("Fits the");
});

test("the page begins in the language of the browser", async ({ browser, baseURL }) => {
  const context = await browser.newContext({ locale: "de-AT", ...(baseURL ? { baseURL } : {}) });
  const page = await context.newPage();
  await page.goto("./");
  await expect(headline(page)).toContainText("Passt auf");
  await expect(page.locator("html")).toHaveAttribute("lang", "de");
  await context.close();
});

test("German writes its figures with a comma before the tenths", async ({ page }) => {
  await open(page, RUN);
  await page.getByLabel("Language").selectOption("de");
  await expect(page.locator(".sum")).toContainText(/Braucht \d+,\d von \d+,\d/);
  await expect(page.locator("#panel-breakdown .figures dd").first()).toHaveText(/\d,\d\d.GiB/);
  await expect(page.locator(".breakdown dd.formula").first()).toContainText(
    /\d\u202f\d{3}\u202f\d{3} Parameter/,
  );
  const left = /(?<![\d.])\d+\.\d+\s(?:GiB|MiB|%|s|h|min)/;
  expect(await page.locator(".head").innerText()).not.toMatch(left);
  // Both marks are read back.
  await unfold(page, "Bibliothek und Karte");
  await page.getByLabel("GiB von anderen belegt", { exact: true }).fill("0,5");
  await expect(page).toHaveURL(/in_use_gib=0\.5/);
  await page.getByLabel("Sprache").selectOption("en");
  await expect(page.locator(".sum")).toContainText(/Needs \d+\.\d of/);
});

test("on a phone no German word is wider than the card", async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await open(page);
  await page.getByLabel("Language").selectOption("de");
  await paste(page, "Vollständiges Fine-Tuning von Qwen3-4B auf RTX 5090, 2048 Tokens");
  const card = page.locator(".verdict");
  await expect(card.locator(".ways")).toContainText("expandable_segments");
  const edge = await card.evaluate((one) => one.getBoundingClientRect().right);
  const ends = await card
    .locator(".ways button")
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right));
  expect(Math.max(...ends)).toBeLessThan(edge);
});

test("a length is read with either mark between its thousands, and a refused one is refused in German", async ({
  page,
}) => {
  await open(page, RUN);
  await page.getByLabel("Language").selectOption("de");
  const length = page.getByLabel("Maximale Länge", { exact: true });
  for (const text of ["8.192", "4,096"]) {
    await length.fill(text);
    await expect(page).toHaveURL(new RegExp(`max_length=${text.replace(/\D/, "")}&`));
    await length.blur();
    await expect(length).toHaveValue(text.replace(/\D/, ""));
  }
  await length.fill("0,5");
  const complaint = page.locator("#field-training-max_length-error");
  await expect(complaint).toHaveText(
    /^\s*Hier wird eine ganze Zahl erwartet\. Erlaubt: 1 bis [\d\u202f]+\s*$/,
  );
});

test("German names components, plans and notes; what stays English is marked as English", async ({
  page,
}) => {
  await open(page, RUN);
  await page.getByLabel("Language").selectOption("de");
  await expect(headline(page)).toContainText("Passt auf");
  await expect(page.locator(".breakdown summary").first()).toHaveText("Das Basismodell.");
  await expect(page.locator(".breakdown caption")).toContainText("Der Verlust läuft rückwärts");
  await page.getByLabel("Maximale Länge", { exact: true }).fill("16384");
  await expect(headline(page)).toContainText("Passt nicht auf");
  await expect(page.locator(".plan").first()).toContainText("Üblicherweise zuerst versucht");
  const why = page.locator(".plan tbody td:not(.number)").first();
  expect(await why.getAttribute("lang")).toBeNull();
  expect(await why.locator("p").first().getAttribute("lang")).toBe("en");
});

test("German names the tensors of a step, and says why a setting was assumed", async ({ page }) => {
  await open(page, `${RUN}&tab=timeline`);
  await page.getByLabel("Language").selectOption("de");
  await wholeAnswer(page);
  await openEveryFold(page.locator("[aria-labelledby=timeline-title]"));
  const names = page.locator("[aria-labelledby=timeline-title] td:nth-child(2)");
  await expect(names.filter({ hasText: "Schichteingabe" })).toHaveCount(1);
  // Modules of the network are names.
  const english = page.locator("[aria-labelledby=timeline-title] [lang=en]");
  expect((await english.allTextContents()).filter((name) => !/^[a-z]+_proj$/.test(name))).toEqual([]);
  const assumed = page.locator(".assumptions td [lang=en]");
  expect(await assumed.allTextContents()).toEqual([]);
});

test("German has a title and a reason for every change, a title and a remedy for every cause", () => {
  const rerun = readFileSync("core/diagnosis/rerun.cpp", "utf8");
  const fixes = readdirSync("core/advice/fixes").filter((name) => name.endsWith(".cpp"));
  const causes = JSON.parse(readFileSync("tests/core/golden/causes.json", "utf8")) as { id: string }[];
  const ids = [
    ...fixes.flatMap((name) => ["fix", "why"].map((kind) => `${kind}.${name.replace(".cpp", "")}`)),
    ...causes.flatMap(({ id }) => ["cause", "remedy"].map((kind) => `${kind}.${id}`)),
    ...[...readFileSync("core/diagnosis/cases.cpp", "utf8").matchAll(/\.id = "(\w+)"/g)].map(
      ([, id]) => `remedy.${id}`,
    ),
    ...[...rerun.matchAll(/out\.contradicts = "(\w+)"/g)].map(([, id]) => `contradicts.${id}`),
    ...[...rerun.matchAll(/out\.explanation = ([^;]+);/g)].flatMap(([, value = ""]) =>
      [...value.matchAll(/"(\w+)"/g)].map(([, id]) => `explains.${id}`),
    ),
  ];
  expect(ids.length).toBeGreaterThan(100);
  expect(ids.filter((id) => !(id in CORE))).toEqual([]);
});

test("German says every formula of the documented cases, and leaves no English in them", async ({ page }) => {
  await open(page);
  const english = await page.evaluate(async () => {
    const { core } = (document.querySelector("plimsoll-app") as unknown as { view: { core: Core } }).view;
    const formulas: string[] = [];
    for (const { request } of core.scenarios) {
      const report = await core.answer(request, JSON.stringify(request));
      for (const { components } of report.ok ? report.memory.instants : []) {
        formulas.push(...components.map((one) => one.formula));
      }
    }
    return formulas;
  });
  expect(english.length).toBeGreaterThan(500);
  for (const text of new Set(english)) {
    expect([text, formula(text) ?? "none"]).toEqual([
      text,
      expect.not.stringMatching(/^none$|\b(?:the|of|each|bytes|and|with|in flight)\b/),
    ]);
  }
  expect(formula("7,241,732,096 parameters x 2 bytes")).toBe("7,241,732,096 Parameter × 2 Byte");
  expect(
    formula("8-bit AdamW: two one-byte states with an fp32 scale for every 256 elements; 2.016 bytes x 41"),
  ).toBe("8-bit AdamW: zwei Zustände von je einem Byte, mit einem fp32-Faktor je 256 Werte; 2.016 Byte × 41");
  expect(formula("something that is new")).toBeUndefined();
  await page.getByLabel("Language").selectOption("de");
  await expect(page.locator(".breakdown dd.formula").first()).toContainText("Parameter");
  await expect(page.locator(".breakdown dd.formula[lang]")).toHaveCount(0);
});

test("sizes are said in GiB or GB, everywhere alike, and the choice is kept", async ({ page }) => {
  await open(page, RUN);
  const shown = async () => Number.parseFloat(await figure(page, "nvidia-smi shows").innerText());
  await wholeAnswer(page);
  // The panel of figures is drawn after the verdict: until then it has those of the quick answer.
  const held = await page.evaluate(
    () =>
      (
        document.querySelector("plimsoll-app") as unknown as {
          view: { report: { memory: { peak: { device: number } } } };
        }
      ).view.report.memory.peak.device /
      2 ** 30,
  );
  await expect.poll(async () => Math.abs((await shown()) - held) < 0.006).toBe(true);
  const binary = await shown();
  await page.getByLabel("Max length", { exact: true }).fill("512");
  // The panel of figures is drawn after the verdict.
  await expect.poll(shown).not.toBe(binary);
  const inAddress = async () => page.url().includes(`&t=${(await shown()).toFixed(2)}&`);
  await expect.poll(inAddress).toBe(true);
  const exact = await shown();
  await page.getByLabel("Max length", { exact: true }).fill("256");
  await wholeAnswer(page);
  await expect.poll(shown).toBe(binary);
  await page.getByLabel("Sizes in").selectOption("GB");
  await expect(figure(page, "nvidia-smi shows")).toContainText("GB");
  expect(await shown()).toBeCloseTo((binary * 2 ** 30) / 1e9, 1);
  await expect(page.locator(".breakdown thead")).toContainText("GB");
  await expect(page.locator(".breakdown tfoot tr:last-child td").first()).toHaveText(
    (await shown()).toFixed(2),
  );
  await expect(page.locator(".hull-chart .tick").first()).toHaveText("0 GB");
  // What is still in GiB: the names of the sizes that cards come in, and sentences of the core.
  const left = async () => (await page.locator("main").innerText()).match(/[\d.]+\d\.\d+ GiB/g) ?? [];
  await expect.poll(left).toEqual([]);
  await page.reload();
  await expect(figure(page, "nvidia-smi shows")).toContainText("GB");
  // A link says its total in GiB, whoever reads it.
  await page.getByLabel("Max length", { exact: true }).fill("512");
  await expect(page).toHaveURL(new RegExp(`&t=${exact.toFixed(2)}&`));
});

test("the theme is chosen, worn and kept", async ({ page }) => {
  await open(page);
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await background();
  await page.getByLabel("Theme").selectOption("dark");
  expect(await background()).not.toBe(light);
  await page.reload();
  await expect(headline(page)).toBeVisible();
  expect(await background()).not.toBe(light);
});

test("with the language, the box and what is read aloud change at once", async ({ page }) => {
  await open(page);
  await paste(page, "base_model: mistralai/Mistral-7B-v0.1\nadapter: lora\nlora_r: 32\nsequence_len: 2048\n");
  const chip = page.locator("plimsoll-paste .found");
  await expect(chip).toContainText("4 keys");
  await expect(page.locator("p.visually-hidden[role=status]")).toHaveText(/^Needs/);
  await page.getByLabel("Language").selectOption("de");
  await expect(chip).toContainText("4 Schlüssel");
  await expect(chip).toContainText("verwendet");
  await expect(page.locator("p.visually-hidden[role=status]")).toHaveText(/^Braucht/);
  await chip.getByRole("button", { name: "ändern" }).click();
  await page.getByLabel("Sprache").selectOption("en");
  await expect(page.locator("#paste-help")).toContainText("Read here and sent nowhere");
});

test("in German no figure of a table or a chip keeps an English mark or unit", async ({ page }) => {
  await open(page);
  await page.getByLabel("Language").selectOption("de");
  await paste(
    page,
    "GRPO with vLLM colocate on Llama-3.1-8B, LoRA, H100 80GB, 8 generations, prompt 512, completion 512",
  );
  await expect(page.locator(".assumed")).toContainText("0,3");
  await wholeAnswer(page);
  for (const tab of ["breakdown", "timeline"]) {
    await showTab(page, tab);
    const panel = page.locator(`#panel-${tab}`);
    await expect(panel).toContainText(/<\s0,01/);
    await expect(panel.locator("td, dd").filter({ hasText: /^\s*<?\s*\d+\.\d+/ })).toHaveCount(0);
    await expect(panel.getByText(/\d\sbytes/)).toHaveCount(0);
  }
});
