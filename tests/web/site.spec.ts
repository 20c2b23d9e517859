import { expect, open, test } from "./page.ts";

test("the policy is the strict one, and nothing may be inline", async ({ page }) => {
  await open(page);
  const policy = await page.locator("meta[http-equiv]").getAttribute("content");
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval'");
  expect(policy).not.toContain("unsafe-inline");
  expect(await page.locator("[style], style, script:not([src])").count()).toBe(0);
});

test("an answer is painted within one frame of the key press", async ({ page }) => {
  await open(page);
  const length = page.getByLabel("Max length");
  const times: number[] = [];
  for (let step = 0; step < 20; ++step) {
    times.push(
      await length.evaluate(
        async (input, value) => {
          const start = performance.now();
          (input as HTMLInputElement).value = value;
          input.dispatchEvent(new InputEvent("input", { bubbles: true }));
          await (document.querySelector("plimsoll-app") as unknown as { updateComplete: Promise<boolean> })
            .updateComplete;
          return performance.now() - start;
        },
        String(256 + 8 * step),
      ),
    );
  }
  times.sort((one, other) => one - other);
  expect(times[10]).toBeLessThan(16);
});
