// From a key press to the new verdict in the page. The goal is 16 ms for 95 of 100 presses on a machine with nothing else to do;
// the limit here leaves room for one that is busy with another test, and the figure is printed.
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
