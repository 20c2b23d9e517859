import { brotliCompressSync } from "node:zlib";
import { expect, open, test } from "./page.ts";

test("the first load is at most 200 kB compressed by brotli", async ({ page }) => {
  const sizes: Record<string, number> = {};
  const read: Promise<void>[] = [];
  page.on("response", (response) => {
    read.push(
      response.body().then((body) => {
        sizes[new URL(response.url()).pathname] = brotliCompressSync(body).length;
      }),
    );
  });
  await open(page);
  await Promise.all(read);
  const total = Object.values(sizes).reduce((sum, size) => sum + size, 0);
  expect(Object.keys(sizes).some((path) => path.endsWith(".wasm"))).toBe(true);
  expect(total, JSON.stringify(sizes)).toBeLessThanOrEqual(200_000);
});

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
