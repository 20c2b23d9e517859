import { encode } from "../../web/src/link.ts";
import { expect, figure, headline, holdSecondModule, open, RUN, showTab, test, wholeCard } from "./page.ts";

test("opens with a real answer that is plainly an example", async ({ page }) => {
  await open(page);
  await expect(page.locator("plimsoll-app .shown")).toContainText("Example: Mistral-7B LoRA on an A10G");
  await expect(page.getByLabel("Model", { exact: true })).toHaveValue("mistralai/Mistral-7B-v0.3");
  await expect(headline(page)).toContainText("A10G");
  // What the author's own run printed and saved.
  await expect(figure(page, "Trainable")).toContainText("6,815,744");
  await expect(figure(page, "Adapter file")).toContainText("26.0 MiB");
  await expect(page).toHaveURL(/\/some\/where\/$/);
});

test("the opening case stands in the page before any script, as the core answers it", async ({
  page,
  browser,
  baseURL,
}) => {
  // The page itself, as it comes: the scripts that compute are held back.
  const context = await browser.newContext(baseURL ? { baseURL } : {});
  const held = await context.newPage();
  // Missing ones would be told of.
  await held.route(/assets\/.*\.js$/, (route) =>
    route.fulfill({ contentType: "text/javascript", body: "// held back" }),
  );
  await held.goto("./", { waitUntil: "commit" });
  // The text as it is laid out: with the style sheet, and to its end.
  await held.waitForFunction(() => {
    const sheets = [...document.querySelectorAll<HTMLLinkElement>("link[rel=stylesheet]")];
    return document.readyState !== "loading" && sheets.length > 0 && sheets.every((link) => link.sheet);
  });
  const early = await held.locator("#first").innerText();
  expect(early).toContain("A10G");
  await expect(held.locator("#loading")).toBeHidden();
  const box = await held.locator("#first .verdict").boundingBox();
  // Another run has an answer of its own.
  await held.goto("./#v=1&model=gpt2", { waitUntil: "commit" });
  await held.reload({ waitUntil: "commit" });
  await expect(held.locator("#first")).toBeHidden();
  await expect(held.locator("#loading")).toBeVisible();
  await context.close();
  // The whole answer, which may be another, waits until the quick one has been read.
  const goOn = await holdSecondModule(page);
  await open(page);
  await expect(page.locator("#first")).toHaveCount(0);
  for (const part of [headline(page), page.locator(".lede").first(), page.locator(".lede").last()]) {
    expect(early).toContain(await part.innerText());
  }
  goOn();
  // What comes into the card with the rest of the page moves nothing.
  await wholeCard(page);
  expect(await page.locator(".verdict").boundingBox()).toEqual(box);
});

test("no figure of the opening case changes while the page comes to life", async ({ page }) => {
  await page.addInitScript(() => {
    const seen = new Set<string>();
    const words = (element: Element) => (element.textContent ?? "").replace(/\s+/g, " ").trim();
    new MutationObserver(() => {
      for (const part of document.querySelectorAll("#verdict-headline > span:last-child, .lede"))
        seen.add(words(part));
    }).observe(document, { subtree: true, childList: true, characterData: true });
    Object.assign(window, { seen });
  });
  await open(page);
  await wholeCard(page);
  const seen = await page.evaluate(() => [...(window as unknown as { seen: Set<string> }).seen]);
  expect(seen.filter((text) => text.startsWith("Needs"))).toHaveLength(1);
  // The headline, what it needs, the largest parts.
  expect(seen.filter((text) => text !== "")).toHaveLength(3);
});

test("names the components that fill the memory, with formula and source", async ({ page }) => {
  await open(page);
  await showTab(page, "breakdown");
  const breakdown = page.locator(".breakdown");
  const lines = breakdown.locator("tbody");
  expect(await lines.count()).toBeGreaterThan(4);
  await expect(lines.first()).toContainText("Weights");
  const fold = lines.first().locator("details");
  await expect(fold.locator(".formula")).toBeHidden();
  await fold.locator("summary").click();
  await expect(fold.locator(".formula")).toBeVisible();
  await expect(fold).toContainText("Source");
});

test("the lines of the breakdown add up to the figure on the device", async ({ page }) => {
  await open(page);
  const gib = (cells: string[]) =>
    cells.reduce(
      (sum, cell) => sum + (cell.trim().startsWith("<") ? 0 : Number.parseFloat(cell.replaceAll(",", ""))),
      0,
    );
  // Not innerText: a panel out of sight may not be laid out (content-visibility).
  const lines = await page.locator(".breakdown tbody tr:first-child td:nth-of-type(1)").allTextContents();
  const total = await page.locator(".breakdown tfoot tr:last-child td:nth-of-type(1)").allTextContents();
  // Each line is rounded to a hundredth.
  expect(Math.abs(gib(lines) - gib(total))).toBeLessThanOrEqual(0.005 * (lines.length + 1));
});

test("marks the peak among the moments of the run, and lists another moment when it is chosen", async ({
  page,
}) => {
  await open(page);
  await showTab(page, "breakdown");
  const moments = page.locator(".instants tbody tr");
  await expect(moments.filter({ hasText: "peak" })).toHaveCount(1);
  await expect(page.locator("#breakdown-title")).toContainText("the peak");
  await page.getByRole("button", { name: "Load", exact: true }).click();
  await expect(page.locator("#breakdown-title")).toHaveText("What fills it while loading the model");
  await expect(page.locator(".breakdown tbody").first()).toContainText("Weights");
});

test("shows each size of GPU with its own verdict", async ({ page }) => {
  await open(page);
  await showTab(page, "gpus");
  const rows = page.locator(".tiers tbody tr");
  await expect(rows.filter({ hasText: "24 GiB" })).toHaveClass("mine");
  const near = await rows.count();
  await page.getByRole("button", { name: /^Show all \d+ sizes/ }).click();
  await expect.poll(() => rows.count()).toBeGreaterThan(near);
  await expect(rows.filter({ hasText: /^\s*6 GiB/ })).toContainText("does not fit");
  await expect(rows.last()).toContainText("fits");
});

test("says what it took for granted", async ({ page }) => {
  await open(page);
  await page.getByText(/settings that the request leaves open/).click();
  await expect(page.locator(".assumptions")).toContainText("versions.transformers");
});

test("announces the verdict to screen readers, once it has settled", async ({ page }) => {
  await open(page, RUN);
  await expect(page.getByRole("status")).toContainText("A10G");
  await page.getByLabel("Micro-batch", { exact: true }).fill("512");
  await expect(page.getByRole("status")).toContainText("Does not fit");
});

test("explains itself where scripts are off", async ({ browser, baseURL }) => {
  const context = await browser.newContext({ javaScriptEnabled: false, ...(baseURL ? { baseURL } : {}) });
  const page = await context.newPage();
  await page.goto("./");
  await expect(page.locator("noscript p")).toBeVisible();
  await expect(page.locator("#loading")).toBeHidden();
  await context.close();
});

test("every figure of the verdict and every part of the hull opens to say how it comes about", async ({
  page,
}) => {
  await open(page);
  await showTab(page, "breakdown");
  const openers = page.locator(".figures .opens, .hull-chart ~ .legend .opens");
  const count = await openers.count();
  expect(count).toBeGreaterThan(12);
  for (let index = 0; index < count; ++index) {
    const opener = openers.nth(index);
    await opener.click();
    await expect(opener).toHaveAttribute("aria-expanded", "true");
    const why = page.locator(".why").last();
    await expect(why).toBeVisible();
    await expect(why.getByRole("link", { name: "In the glossary" })).toHaveAttribute(
      "href",
      /glossary\.html#/,
    );
    await opener.click();
    await expect(opener).toHaveAttribute("aria-expanded", "false");
  }
});

test("the figures add up where they are opened", async ({ page }) => {
  await open(page);
  await showTab(page, "breakdown");
  for (const name of ["PyTorch allocates", "PyTorch reserves", "nvidia-smi shows"]) {
    await figure(page, name).locator("button").click();
    await expect(page.locator(".why .sum")).toBeVisible();
    const mebibytes = (await page.locator(".why .sum tr td").allInnerTexts()).map((text) => {
      const value = Number.parseFloat(text.replaceAll(",", ""));
      return text.includes("GiB") ? value * 1024 : text.includes("MiB") ? value : value / 2 ** 20;
    });
    const total = mebibytes.pop() ?? 0;
    const sum = mebibytes.reduce((one, other) => one + other, 0);
    // Each is rounded to a hundredth of a GiB.
    expect(Math.abs(sum - total), name).toBeLessThan(6 * (mebibytes.length + 1));
    await figure(page, name).locator("button").click();
  }
});

test("every word that the page links to is in the glossary", async ({ page }) => {
  const { PAINTS } = await import("../../web/src/colours.ts");
  await page.goto("./docs/glossary.html");
  for (const id of [
    ...Object.keys(PAINTS),
    "device",
    "reserved",
    "allocated",
    "band",
    "usable",
    "trainable",
    "adapter",
    "checkpoint",
    "host",
  ]) {
    await expect(page.locator(`dt#${id}`), id).toHaveCount(1);
  }
});

test("while no model is named none is said to be fetched: which it is is asked at once", async ({ page }) => {
  const goOn = await holdSecondModule(page);
  await page.goto(`./${encode({ hardware: { gpu: "rtx-4090" }, training: { max_length: 2048 } })}`);
  await expect(page.locator(".ask")).toContainText("Which model?");
  const waiting = () =>
    page.evaluate(
      () =>
        (document.querySelector("plimsoll-app") as unknown as { view: { waiting: boolean } }).view.waiting,
    );
  expect(await waiting()).toBe(true);
  await expect(page.locator(".loading")).toHaveCount(0);
  goOn();
  await expect.poll(waiting).toBe(false);
  await expect(page.locator(".ask")).toContainText("Which model?");
});
