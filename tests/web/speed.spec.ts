// From a key press to the new verdict in the page, and from nothing to the first answer on a slow processor. The goals, 16 ms for
// 95 of 100 presses and a second, are those of a machine with nothing else to do; the limits here leave room for one that is busy
// all the same, and the figures are printed.
import { encode } from "../../web/src/link.ts";
import { expect, open, test } from "./page.ts";

const GOAL = 16;
const LIMIT = 64;

test("a key press is answered within a frame or so", async ({ page }) => {
  await open(page);
  await expect(page.locator("section:not([aria-busy]) > #plans-title")).toBeVisible();
  // Storing the site for use without a network is over.
  await expect(page.locator(".offline")).toBeVisible();
  const times = await page.evaluate(async () => {
    const input = document.querySelector<HTMLInputElement>("#field-training-max_length");
    const verdict = document.querySelector("#verdict-headline");
    const app = document.querySelector("plimsoll-app") as
      | (HTMLElement & { updateComplete: Promise<unknown> })
      | null;
    if (!input || !verdict || !app) return [];
    const taken: number[] = [];
    for (let press = 0; press < 60; ++press) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const start = performance.now();
      input.value = String(300 + 7 * press);
      input.dispatchEvent(new InputEvent("input", { bubbles: true }));
      await app.updateComplete;
      // Style and layout, as the next frame would do them.
      verdict.getBoundingClientRect();
      taken.push(performance.now() - start);
    }
    return taken.sort((one, other) => one - other);
  });
  expect(times.length).toBe(60);
  const [median = 0, p95 = 0] = [times[30], times[57]];
  const words = `median ${median.toFixed(1)} ms, 95th percentile ${p95.toFixed(1)} ms; the goal is ${GOAL} ms`;
  test.info().annotations.push({ type: "speed", description: words });
  console.log(words);
  expect(p95, words).toBeLessThan(LIMIT);
});

const SLOW_DOWN = 4;
const FIRST_GOAL = 1000;
const FIRST_LIMIT = 12_000;
const OTHER = encode({
  model: "Qwen/Qwen2.5-7B",
  peft: { r: 16, target_modules: ["q_proj", "v_proj"] },
  training: { max_length: 1024, gradient_checkpointing: true },
  hardware: { gpu: "l4" },
});

for (const [name, fragment] of [
  ["the opening case", ""],
  ["a link", OTHER],
] as const) {
  test(`${name} is answered soon on a processor four times slower`, async ({ page }) => {
    const session = await page.context().newCDPSession(page);
    await session.send("Emulation.setCPUThrottlingRate", { rate: SLOW_DOWN });
    await page.addInitScript(() => {
      const times: Record<string, number> = {};
      Object.assign(window, { times });
      const visible = (selector: string) => {
        const element = document.querySelector(selector);
        return element instanceof HTMLElement && element.offsetParent !== null && element.innerText !== "";
      };
      const look = () => {
        // A frame that shows it has been drawn when the next one begins.
        if (visible(".verdict h2")) times["read"] ??= performance.now();
        if (visible("plimsoll-app .verdict h2")) times["alive"] ??= performance.now();
        if (times["alive"] === undefined) requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
    await page.goto(`./${fragment}`);
    await page.waitForFunction(() => (window as unknown as { times: { alive?: number } }).times.alive);
    const { read, alive } = await page.evaluate(
      () => (window as unknown as { times: { read: number; alive: number } }).times,
    );
    const words = `${name}, ${SLOW_DOWN} times slower: read after ${read.toFixed(0)} ms, alive after ${alive.toFixed(0)} ms; the goal is ${FIRST_GOAL} ms`;
    test.info().annotations.push({ type: "speed", description: words });
    console.log(words);
    expect(read, words).toBeLessThan(FIRST_LIMIT);
  });
}
