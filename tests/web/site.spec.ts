import { readFileSync } from "node:fs";
import { addressed } from "../../web/address.ts";
import { expect, open, test } from "./page.ts";

test("the policy is the strict one, and nothing may be inline", async ({ page }) => {
  await open(page);
  const policy = await page.locator("meta[http-equiv]").getAttribute("content");
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval'");
  expect(policy).not.toContain("unsafe-inline");
  expect(await page.locator("[style], style, script:not([src])").count()).toBe(0);
});

test("a shared link has a title, a description and a picture", async ({ page, request }) => {
  await page.goto("./");
  const tag = (name: string) => page.locator(`meta[property="og:${name}"]`).getAttribute("content");
  expect(await tag("title")).toContain("will it fit on this GPU?");
  expect(await tag("description")).toContain("smallest change");
  const picture = await request.get(new URL((await tag("image")) ?? "", page.url()).href);
  expect(picture.headers()["content-type"]).toBe("image/png");
});

test("a site whose address is known names its picture by the whole of it", () => {
  const html = readFileSync("web/index.html", "utf8");
  const picture = (page: string) => /property="og:image" content="([^"]*)"/.exec(page)?.[1];
  expect(picture(html)).toBe("./preview.png");
  for (const address of ["https://example.org/plimsoll", "https://example.org/plimsoll/"]) {
    const page = addressed(html, address);
    expect(picture(page)).toBe("https://example.org/plimsoll/preview.png");
    expect(page).toContain('property="og:url" content="https://example.org/plimsoll/"');
  }
});

test("the README counts the runs that the accuracy page shows", async ({ page }) => {
  const readme = readFileSync("README.md", "utf8");
  const runs = JSON.parse(readFileSync("tests/measured/runs.json", "utf8")) as unknown[];
  await page.goto("./docs/accuracy.html");
  const shown = /([\d,]+) runs:/.exec(await page.locator("b", { hasText: "runs:" }).first().innerText())?.[1];
  expect(readme).toMatch(new RegExp(`replays ${runs.length}\\s+published runs`));
  expect(readme).toContain(`of ${shown} the allocated peak`);
});
