// How long the page takes: from a key press to the new verdict, and from nothing to the first answer on a processor four
// times slower. Run by ./dev bench --page, on a machine with nothing else to do. No limit is held here: each figure is
// given as a multiple of another of the same run, so that two machines, or two builds, can be compared; the milliseconds
// stand behind it. What can be counted is held by work.spec.ts.
import type { Page } from "@playwright/test";
import { encode } from "../../web/src/link.ts";
import { expect, open, test } from "./page.ts";

// What the site stores is part of what is tested.
test.use({ serviceWorkers: "allow" });

const SLOW_DOWN = 4;
const VISITS = 5;
const PRESSES = 60;

const sorted = (times: number[]) => [...times].sort((one, other) => one - other);
const part = (times: number[], share: number) => sorted(times)[Math.floor(share * times.length)] ?? 0;
const median = (times: number[]) => part(times, 0.5);

function say(what: string, time: number, reference: number, of: string): void {
  const line = `${what}: ${(time / reference).toFixed(1)} times ${of} (${time.toFixed(1)} ms, ${reference.toFixed(1)} ms)`;
  test.info().annotations.push({ type: "speed", description: line });
  console.log(line);
}

// A run of one's own: the first key press on the example would leave it.
const OTHER = encode({
  model: "Qwen/Qwen2.5-7B",
  peft: { r: 16, target_modules: ["q_proj", "v_proj"] },
  training: { max_length: 1024, gradient_checkpointing: true },
  hardware: { gpu: "l4" },
});

test("a key press, against a plain report of the same module in the same page", async ({ page }) => {
  await open(page, OTHER);
  await expect(page.locator("section:not([aria-busy]) > #plans-title")).toBeVisible();
  // Storing the site for use without a network is over.
  await expect(page.locator(".offline")).toBeVisible();
  const { pressed, reported } = await page.evaluate(async (presses) => {
    const app = document.querySelector("plimsoll-app") as HTMLElement & {
      updateComplete: Promise<unknown>;
      view: { request: object; core: { report(text: string): unknown } };
    };
    const input = document.querySelector<HTMLInputElement>("#field-training-max_length")!;
    const verdict = document.querySelector("#verdict-headline")!;
    const times = { pressed: [] as number[], reported: [] as number[] };
    for (let press = 0; press < presses; ++press) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      let start = performance.now();
      input.value = String(300 + 7 * press);
      input.dispatchEvent(new InputEvent("input", { bubbles: true }));
      await app.updateComplete;
      // Style and layout, as the next frame would do them.
      verdict.getBoundingClientRect();
      times.pressed.push(performance.now() - start);
      const text = JSON.stringify(app.view.request);
      start = performance.now();
      app.view.core.report(text);
      times.reported.push(performance.now() - start);
    }
    return times;
  }, PRESSES);
  expect(pressed.length).toBe(PRESSES);
  const report = median(reported);
  say("a key press, median", median(pressed), report, "a report");
  say("a key press, 95 of 100", part(pressed, 0.95), report, "a report");
});

interface Visit {
  /** When an answer can be read, and when the living page shows it. */
  read: number;
  alive: number;
}

async function visit(page: Page, fragment: string, rate: number): Promise<Visit> {
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate });
  await page.addInitScript(() => {
    const times: Partial<Visit> = {};
    Object.assign(window, { times });
    const visible = (selector: string) => {
      const element = document.querySelector(selector);
      return element instanceof HTMLElement && element.offsetParent !== null && element.innerText !== "";
    };
    const look = () => {
      // A frame that shows it has been drawn when the next one begins.
      if (visible(".verdict h2")) times.read ??= performance.now();
      if (visible("plimsoll-app .verdict h2")) times.alive ??= performance.now();
      if (times.alive === undefined) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await page.goto(`./${fragment}`);
  await page.waitForFunction(() => (window as unknown as { times: Partial<Visit> }).times.alive);
  return page.evaluate(() => (window as unknown as { times: Visit }).times);
}

for (const [name, fragment] of [
  ["the opening case", ""],
  ["a link", OTHER],
] as const) {
  test(`${name} on a slower processor, against the same on this one`, async ({ browser, baseURL }) => {
    const visits: Record<"here" | "slow", Visit[]> = { here: [], slow: [] };
    // In turns, so that what else the machine does meets both; each visit begins with nothing stored.
    for (let turn = 0; turn < VISITS; ++turn) {
      for (const [where, rate] of [
        ["here", 1],
        ["slow", SLOW_DOWN],
      ] as const) {
        const context = await browser.newContext(baseURL ? { baseURL } : {});
        visits[where].push(await visit(await context.newPage(), fragment, rate));
        await context.close();
      }
    }
    for (const [words, of] of [
      ["can be read", ({ read }: Visit) => read],
      ["takes key presses", ({ alive }: Visit) => alive],
    ] as const) {
      const here = median(visits.here.map(of));
      say(
        `${name} ${words}, ${SLOW_DOWN} times slower`,
        median(visits.slow.map(of)),
        here,
        "as long as here",
      );
    }
  });
}
