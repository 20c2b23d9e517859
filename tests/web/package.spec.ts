// The npm package in a page of somebody else: no bundler, a strict policy, and nothing fetched but its own files. That it can be
// packed, installed and run under Node.js is shown by tests/wasm/package.mjs.
import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import { expect, test } from "@playwright/test";

const HOME = "http://package.example";
const FOLDERS = ["npm", process.env["PLIMSOLL_WASM"] ?? "build/wasm"];

test("a page imports the package, and it answers, advises and explains", async ({ page }) => {
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  const asked: string[] = [];
  await page.route("**/*", async (route) => {
    const { origin, pathname } = new URL(route.request().url());
    asked.push(origin);
    if (pathname === "/") {
      await route.fulfill({
        contentType: "text/html",
        headers: {
          "Content-Security-Policy":
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src data:",
        },
        body: '<!doctype html><link rel="icon" href="data:,"><title>Somebody</title><script type="module" src="/use.js"></script>',
      });
    } else if (pathname === "/use.js") {
      await route.fulfill({
        contentType: "text/javascript",
        body: 'import { load, loadFirst } from "/plimsoll-core/index.js"; window.package = { load, loadFirst };',
      });
    } else {
      const name = basename(pathname);
      const path = FOLDERS.map((folder) => resolve(folder, name)).find((each) => existsSync(each));
      await (path === undefined ? route.abort() : route.fulfill({ path }));
    }
  });
  await page.goto(HOME);
  await page.waitForFunction(() => "package" in window);
  const answers = await page.evaluate(async () => {
    interface Answers {
      report(request: unknown): { ok: boolean; memory: { peak: { allocated: number } } };
      models(): unknown[];
      advise(request: unknown): { gpu: { plans: unknown[] } };
      diagnose(text: string): { ok: boolean; causes: unknown[] };
    }
    const { load, loadFirst } = (
      window as unknown as { package: { load(): Promise<Answers>; loadFirst(): Promise<Answers> } }
    ).package;
    const request = {
      model: "mistral-7b-v0.3",
      peft: { r: 16, target_modules: ["q_proj", "v_proj"] },
      hardware: { gpu: "t4" },
    };
    const [first, whole] = [await loadFirst(), await load()];
    return {
      first: first.report(request).memory.peak.allocated,
      whole: whole.report(request).memory.peak.allocated,
      models: whole.models().length,
      plans: whole.advise(request).gpu.plans.length,
      causes: whole.diagnose("CUDA out of memory. Tried to allocate 224.00 MiB").causes.length,
    };
  });
  expect(answers.first).toBeGreaterThan(2 ** 33);
  // Allocated alike; for what is reserved the small module takes a share.
  expect(answers.whole).toBe(answers.first);
  expect(answers.models).toBeGreaterThan(100);
  expect(answers.plans).toBeGreaterThan(0);
  expect(answers.causes).toBeGreaterThan(0);
  expect(new Set(asked)).toEqual(new Set([HOME]));
  expect(complaints).toEqual([]);
});
