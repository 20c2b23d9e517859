// What goes wrong with a site: each is mended, or answered in words on the page. docs/faults.md lists them.
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { extname, resolve } from "node:path";
import { test as base, expect as hope } from "@playwright/test";
import { expect, headline, test } from "./page.ts";

// What the site stores is part of what is tested.
test.use({ serviceWorkers: "allow" });

test("storage that is blocked takes nothing but the memory of choices", async ({ page }) => {
  await page.addInitScript(() => {
    for (const name of ["localStorage", "sessionStorage", "caches", "indexedDB"]) {
      Object.defineProperty(window, name, {
        get: () => {
          throw new DOMException("The operation is insecure.", "SecurityError");
        },
      });
    }
  });
  await page.goto("./");
  await expect(headline(page)).toBeVisible();
});

test("storage that is full is no error", async ({ page }) => {
  await page.addInitScript(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException("The quota has been exceeded.", "QuotaExceededError");
    };
  });
  await page.goto("./");
  await expect(headline(page)).toBeVisible();
});

test("a module that is served with the type of something else is compiled all the same", async ({
  page,
  context,
}) => {
  await context.route("**/*.wasm", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), "content-type": "text/plain" } });
  });
  await page.goto("./?no-sw");
  await expect(headline(page)).toBeVisible();
});

// The rest breaks the page on purpose, so that errors in its console fail nothing: playwright's own test.

base("a module that is missing is said, with the way out", async ({ page, context }) => {
  await context.route("**/*.wasm", (route) => route.fulfill({ status: 404, body: "gone" }));
  await page.goto("./?no-sw");
  await hope(page.locator("#loading")).toContainText("could not be loaded");
  await hope(page.locator("#loading")).toContainText("Reload the page");
});

// A server's policy reaches the threads too, which the page's own does not.
base("a policy that forbids WebAssembly is said", async ({ page }) => {
  await page.route(/where\/\?no-sw$|worker-[^/]*\.js$/, async (route) => {
    const response = await route.fetch();
    const headers = { ...response.headers(), "content-security-policy": "script-src 'self'" };
    await route.fulfill({ response, headers });
  });
  await page.goto("./?no-sw");
  await hope(page.locator("#loading")).toContainText("could not be loaded");
});

base("an update that was cut off is said: the page names files that are not there", async ({ page }) => {
  await page.route("**/assets/index-*.js", (route) => route.fulfill({ status: 404, body: "gone" }));
  await page.goto("./?no-sw");
  await hope(page.locator("#loading")).toContainText("A part of the page is missing");
});

// Chrome 61 to 107 know modules, and not all that is written in them.
for (const part of ["index", "shared"]) {
  base(`a browser that cannot read the syntax of ${part}.js is told which it needs`, async ({ page }) => {
    await page.route(`**/assets/${part}-*.js`, (route) =>
      route.fulfill({ contentType: "text/javascript", body: "export const younger = a ?!? b;" }),
    );
    await page.goto("./?no-sw");
    await hope(page.locator("#loading")).toContainText("cannot start");
    await hope(page.locator("#loading")).toContainText("as new as Chrome 108");
    await hope(page.locator("#first")).toHaveCount(0);
    await hope(page.locator("body")).not.toContainText("Fits");
  });
}

base("a script of somebody else that fails keeps no application from starting", async ({ page }) => {
  await page.addInitScript(() =>
    setTimeout(() => {
      throw new Error("of an extension");
    }),
  );
  await page.goto("./?no-sw");
  await hope(headline(page)).toBeVisible();
  await hope(page.locator("#loading")).toHaveCount(0);
});

base("what runs before the application is read by every browser that knows modules", () => {
  const early = readFileSync("web/public/early.js", "utf8");
  hope(early).not.toMatch(/catch \{|\?\.|\?\?|\.\.\.|\bawait\b|\*\*|\bimport\b/);
});

base("without JavaScript the page says what it needs it for", async ({ browser, baseURL }) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(baseURL ?? "");
  // Playwright reads no text of a noscript itself.
  const said = page.locator("noscript p");
  await hope(said).toBeVisible();
  await hope(said).toContainText("JavaScript and WebAssembly");
  await context.close();
});

base("a browser without WebAssembly is told which it needs", async ({ page }) => {
  await page.addInitScript(() => {
    Object.defineProperty(window, "WebAssembly", { value: undefined });
    Object.defineProperty(window, "Worker", { value: undefined });
  });
  await page.goto("./?no-sw");
  await hope(page.locator("#loading")).toContainText(/needs WebAssembly|could not be loaded/);
});

base("a stored copy that is damaged is thrown away, and the next visit works", async ({ page }) => {
  await page.goto("./");
  await hope(page.locator(".offline")).toContainText("without a network");
  await page.evaluate(async () => {
    for (const key of await caches.keys()) {
      const cache = await caches.open(key);
      for (const request of await cache.keys()) {
        if (!request.url.includes(".wasm")) continue;
        await cache.put(
          request,
          new Response("damaged", { headers: { "content-type": "application/wasm" } }),
        );
      }
    }
  });
  await page.reload();
  await hope(page.locator("#loading")).toContainText("could not be loaded");
  await hope.poll(() => page.evaluate(async () => (await caches.keys()).length)).toBe(0);
  await page.reload();
  await hope(headline(page)).toBeVisible();
});

base("two tabs never work with two versions: who agrees in one reloads both", async ({ context }) => {
  const root = resolve(process.env["PLIMSOLL_SITE"] ?? "build/site");
  let version = "";
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://any").pathname;
    const file = path.endsWith("/") ? `${path}index.html` : path;
    const types: Record<string, string> = {
      ".html": "text/html",
      ".js": "text/javascript",
      ".css": "text/css",
      ".wasm": "application/wasm",
    };
    readFile(`${root}${file}`).then(
      (content) => {
        response.setHeader("Content-Type", types[extname(file)] ?? "application/octet-stream");
        response.end(file === "/sw.js" ? `${content.toString()}\n// ${version}` : content);
      },
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const one = await context.newPage();
  await one.goto(address);
  await hope(one.locator(".offline")).toContainText("without a network");
  const other = await context.newPage();
  await other.goto(`${address}#v=1&model=gpt2`);
  await hope(headline(other)).toBeVisible();
  version = "newer";
  await one.reload();
  await hope(one.locator(".update")).toContainText("newer Plimsoll");
  await other.evaluate(() => Object.assign(window, { before: true }));
  await one.getByRole("button", { name: "Use it now" }).click();
  // While it reloads there is no page to ask.
  await hope.poll(() => other.evaluate(() => "before" in window).catch(() => true)).toBe(false);
  await hope(headline(other)).toBeVisible();
  hope(other.url()).toContain("model=gpt2");
  server.close();
});
