// What a key press and a first visit cost, counted: reports, drawings, questions to the second module, in which order.
// The same on every machine; how long it takes is measured by ./dev bench --page.
import type { Page } from "@playwright/test";
import type { Core } from "../../web/src/core.ts";
import { encode } from "../../web/src/link.ts";
import { expect, headline, holdSecondModule, open, RUN, SECOND, test, wholeCard } from "./page.ts";

// What the site stores is part of what is tested.
test.use({ serviceWorkers: "allow" });

interface App extends HTMLElement {
  view: { core: Core };
  updateComplete: Promise<unknown>;
  updated(): void;
}

interface Seen {
  /** What the second module was asked: name and length, "advise 307". */
  asked: string[];
  /** How often the address was replaced. */
  replaced: number;
  /** When the first answer could be read, on the clock by which the browser notes what it fetches. */
  answered: number;
}

/** Watches from before the first script of the page. */
async function watch(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const seen: Seen = { asked: [], replaced: 0, answered: Infinity };
    Object.assign(window, { seen });
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (this: Worker, ...sent: [unknown]) {
      const { name, values } = sent[0] as {
        name?: string;
        values?: [{ training?: { max_length?: number } }?];
      };
      if (name !== undefined) seen.asked.push(`${name} ${values?.[0]?.training?.max_length ?? ""}`.trim());
      postMessage.apply(this, sent);
    } as Worker["postMessage"];
    const replaceState = history.replaceState.bind(history);
    history.replaceState = (...state) => {
      ++seen.replaced;
      replaceState(...state);
    };
    new MutationObserver(() => {
      const answer = document.querySelector<HTMLElement>("plimsoll-app .verdict h2");
      if (answer && answer.offsetParent !== null) seen.answered = Math.min(seen.answered, performance.now());
    }).observe(document, { childList: true, subtree: true, attributeFilter: ["hidden"] });
  });
}

const seen = (page: Page) => page.evaluate(() => (window as unknown as { seen: Seen }).seen);

/** Types so many lengths in one turn of the page, between which no timer comes: 307, 314, ... */
const type = (page: Page, times: number) =>
  page.evaluate(async (times) => {
    const app = document.querySelector("plimsoll-app") as unknown as App;
    const input = document.querySelector<HTMLInputElement>("#field-training-max_length")!;
    const { core } = app.view;
    const { report, answer } = core;
    const { updated } = app;
    const count = { reports: 0, elsewhere: 0, drawn: 0 };
    core.report = (request) => (++count.reports, report(request));
    core.answer = (...asked) => (++count.elsewhere, answer(...asked));
    app.updated = function (...changed) {
      ++count.drawn;
      updated.apply(this, changed);
    };
    for (let press = 1; press <= times; ++press) {
      input.value = String(300 + 7 * press);
      input.dispatchEvent(new InputEvent("input", { bubbles: true }));
      await app.updateComplete;
    }
    Object.assign(core, { report, answer });
    app.updated = updated;
    return count;
  }, times);

/** Opens the page and waits until nothing more will come by itself. */
async function openQuietly(page: Page): Promise<void> {
  await watch(page);
  await open(page, RUN);
  await expect(page.locator("section:not([aria-busy]) > #plans-title")).toBeVisible();
  await wholeCard(page);
  await expect(page.locator(".offline")).toBeVisible();
}

test("what comes late of a first answer fades nothing, and of the next what is of the one before", async ({
  page,
}) => {
  await page.addInitScript(() => {
    const faded: string[] = [];
    Object.assign(window, { faded });
    new MutationObserver(() => {
      for (const part of document.querySelectorAll<HTMLElement>(".stale")) faded.push(part.innerText);
    }).observe(document, { subtree: true, childList: true, attributes: true });
  });
  const faded = () => page.evaluate(() => (window as unknown as { faded: string[] }).faded);
  await openQuietly(page);
  expect(await faded()).toEqual([]);
  await type(page, 1);
  expect((await faded()).join()).toContain("Cheapest");
  expect((await faded()).join()).not.toContain("Copy link");
});

test("a key press asks for one report, of the page's own module, and draws once", async ({ page }) => {
  await openQuietly(page);
  expect(await type(page, 60)).toEqual({ reports: 60, elsewhere: 0, drawn: 60 });
  await expect(page.getByLabel("Max length", { exact: true })).toHaveValue("720");
});

test("many key presses in a row are planned for once, and are written to the address when they end", async ({
  page,
}) => {
  await openQuietly(page);
  const { asked, replaced } = await seen(page);
  await type(page, 60);
  // Of the advice the plans come first, and how far the run could go behind them.
  const last = ["report 720", "advise 720", "advise 720"];
  await expect.poll(async () => (await seen(page)).asked).toEqual([...asked, ...last]);
  await expect(page).toHaveURL(/max_length=720&/);
  // On a slow machine the total of the answer comes after the settings, and is written behind them.
  expect((await seen(page)).replaced - replaced).toBeLessThanOrEqual(2);
  // Had anything been sent again, it would stand before what the next press asks for.
  await type(page, 1);
  await expect
    .poll(async () => (await seen(page)).asked)
    .toEqual([...asked, ...last, "report 307", "advise 307", "advise 307"]);
});

test("a visit asks the second module for each thing once", async ({ page }) => {
  await openQuietly(page);
  expect((await seen(page)).asked.sort()).toEqual(["advise 256", "advise 256", "models", "report 256"]);
});

const OTHER = encode({
  model: "Qwen/Qwen2.5-7B",
  peft: { r: 16, target_modules: ["q_proj", "v_proj"] },
  training: { max_length: 1024, gradient_checkpointing: true },
  hardware: { gpu: "l4" },
});

for (const [name, fragment, card] of [
  ["the opening case", "", "A10G"],
  ["a link", OTHER, "L4"],
] as const) {
  const tag = fragment === "" ? [] : ["@whole"];
  test(`${name} is answered without the second module`, { tag }, async ({ page }) => {
    const goOn = await holdSecondModule(page);
    await page.goto(`./${fragment}`);
    await expect(page.locator("plimsoll-app .verdict h2")).toContainText(card);
    goOn();
    await expect(page.locator("section:not([aria-busy]) > #plans-title")).toBeVisible();
    await expect(headline(page)).toContainText(card);
  });

  test(`${name} can be read before anything of the second module is fetched`, { tag }, async ({ page }) => {
    await watch(page);
    await open(page, fragment);
    await expect(page.locator("section:not([aria-busy]) > #plans-title")).toBeVisible();
    const fetched = await page.evaluate(() =>
      performance.getEntriesByType("resource").map(({ name, startTime }) => ({ name, startTime })),
    );
    const second = fetched.filter((one) => SECOND.test(one.name));
    expect(second.length).toBeGreaterThan(0);
    const { answered } = await seen(page);
    for (const one of second) expect(one.startTime, one.name).toBeGreaterThan(answered);
  });
}
