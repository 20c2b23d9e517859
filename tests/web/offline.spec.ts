// After one visit the page works without a network, and a newer version waits to be asked for.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, resolve } from "node:path";
import { test as base, type Page } from "@playwright/test";
import { choose, expect, headline, open, test } from "./page.ts";

// What the site stores is part of what is tested.
test.use({ serviceWorkers: "allow" });

const stored = async (page: Page) => {
  await open(page);
  await expect(page.locator(".offline")).toContainText("without a network");
};

test("everything works with the network off after one visit", async ({ page, context }) => {
  await stored(page);
  await context.setOffline(true);
  await page.reload();
  await expect(page.locator("#share-title")).toBeAttached();
  await page.getByRole("button", { name: "Edit this example" }).click();
  await choose(page, "GPU", "l4");
  await expect(headline(page)).toContainText("L4");
  await page.goto("./docs/accuracy.html");
  await expect(page.locator(".scatter circle").first()).toBeVisible();
  await page.goto("./docs/method.html");
  await expect(page.locator(".components .panel").first()).toBeVisible();
  await context.setOffline(false);
});

/** The built site, with a service worker that can be made newer: one more byte is another version to the browser. */
async function changingSite() {
  const root = resolve(process.env["PLIMSOLL_SITE"] ?? "build/site");
  const types: Record<string, string> = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".wasm": "application/wasm",
    ".svg": "image/svg+xml",
    ".png": "image/png",
  };
  let version = "";
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://any").pathname;
    const file = path.endsWith("/") ? `${path}index.html` : path;
    readFile(`${root}${file}`).then(
      (content) => {
        response.setHeader("Content-Type", types[extname(file)] ?? "application/octet-stream");
        response.end(file === "/sw.js" ? `${content.toString()}\n// ${version}` : content);
      },
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}/`,
    release: (next: string) => (version = next),
    close: () => server.close(),
  };
}

base("a newer version is offered, and used when asked", async ({ page }) => {
  const site = await changingSite();
  await page.goto(site.address);
  await expect(page.locator(".offline")).toContainText("without a network");
  site.release("newer");
  await page.reload();
  // Chromium asks for a newer worker some seconds after the page has loaded.
  await expect(page.locator(".update")).toContainText("newer Plimsoll");
  await page.getByRole("button", { name: "Later" }).click();
  await expect(page.locator(".update")).toHaveCount(0);
  await page.reload();
  await page.getByRole("button", { name: "Use it now" }).click();
  await expect(page.locator(".update")).toHaveCount(0);
  await expect(headline(page)).toBeVisible();
  await page.reload();
  await expect(headline(page)).toBeVisible();
  await expect(page.locator(".update")).toHaveCount(0);
  site.close();
});

test("the manifest is installable from any path", async ({ page }) => {
  await open(page);
  const address = await page
    .locator('link[rel="manifest"]')
    .evaluate((link) => (link as HTMLLinkElement).href);
  const manifest = (await (await page.request.get(address)).json()) as {
    start_url: string;
    scope: string;
    display: string;
    icons: { src: string; sizes: string; purpose?: string }[];
  };
  expect(manifest).toMatchObject({ start_url: "./", scope: "./", display: "standalone" });
  expect(manifest.icons.some((icon) => icon.purpose === "maskable")).toBe(true);
  for (const icon of manifest.icons) {
    expect((await page.request.get(new URL(icon.src, address).href)).status()).toBe(200);
  }
});
