import { expect, open, test } from "./page.ts";

test("the policy is the strict one, and nothing may be inline", async ({ page }) => {
  await open(page);
  const policy = await page.locator("meta[http-equiv]").getAttribute("content");
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval'");
  expect(policy).not.toContain("unsafe-inline");
  expect(await page.locator("[style], style, script:not([src])").count()).toBe(0);
});
