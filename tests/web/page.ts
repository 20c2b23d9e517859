// Every browser test watches the same three things: nothing is asked of another host, the content security policy is
// never violated, and no error reaches the console.
import { readdirSync, readFileSync } from "node:fs";
import {
  expect,
  test as base,
  type BrowserContext,
  type Locator,
  type Page,
  type PlaywrightTestOptions,
} from "@playwright/test";
import type { Request } from "../../web/src/contract.ts";
import { encode } from "../../web/src/link.ts";

interface Kept {
  context: BrowserContext;
  /** Never closed: what it compiled and optimised of the modules serves all pages of its process. */
  page: Page;
}

/** What the configuration says of every page. */
const plain = ({
  baseURL = "",
  viewport = null,
  serviceWorkers = "block",
}: Partial<PlaywrightTestOptions>) => ({
  baseURL,
  viewport,
  serviceWorkers,
});

const modules = () => readdirSync("build/site/assets").filter((file) => file.endsWith(".wasm"));

async function forget({ context, page }: Kept): Promise<void> {
  for (const other of context.pages()) if (other !== page) await other.close();
  await context.unrouteAll();
  await context.setOffline(false);
  await context.clearPermissions();
  await context.clearCookies();
  await page.evaluate(() => localStorage.clear());
}

/** `hosts`: others that a test stands in for. */
export const test = base.extend<{ page: Page; hosts: string[] }, { kept: Kept }>({
  hosts: [[], { option: true }],
  kept: [
    async ({ browser }, use, { project }) => {
      const context = await browser.newContext(plain(project.use));
      const page = await context.newPage();
      await page.goto("./docs/glossary.html");
      await page.evaluate(async (files) => {
        const kept = files.map((file) => WebAssembly.compileStreaming(fetch(`../assets/${file}`)));
        Object.assign(window, { kept: await Promise.all(kept) });
      }, modules());
      await use({ context, page });
      await context.close();
    },
    { scope: "worker" },
  ],
  // Who asks for more than a browser gives has a context of one's own.
  context: async ({ browser, kept, locale, permissions, serviceWorkers }, use, { project }) => {
    const common = serviceWorkers === "block" && locale === "en-US" && !permissions;
    if (common) {
      await use(kept.context);
      await forget(kept);
      return;
    }
    const wanted = { ...(locale ? { locale } : {}), ...(permissions ? { permissions } : {}), serviceWorkers };
    const context = await browser.newContext({ ...plain(project.use), ...wanted });
    await use(context);
    await context.close();
  },
  page: async ({ page, baseURL, hosts }, use) => {
    const home = new URL(baseURL ?? "").origin;
    const complaints: string[] = [];
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.origin !== home && !hosts.includes(url.origin) && !["data:", "blob:"].includes(url.protocol)) {
        complaints.push(`asked ${url.href}`);
      }
    });
    page.on("pageerror", (error) => complaints.push(`threw ${error.message}`));
    page.on("console", (message) => {
      const expected =
        hosts.some((host) => message.location().url.startsWith(host)) ||
        message.text() === "Service Worker registration blocked by Playwright";
      if (["error", "warning"].includes(message.type()) && !expected)
        complaints.push(`said ${message.text()}`);
    });
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        console.error(`content security policy: ${event.violatedDirective} ${event.blockedURI}`);
      });
    });
    await use(page);
    expect(complaints).toEqual([]);
  },
});

export { expect };

const example = JSON.parse(readFileSync("presets/scenarios/d-after.json", "utf8")) as { request: Request };

/** Somebody's own run, like the one that the page opens with: what is changed of that is all that stays of it. */
export const RUN = encode({ ...example.request, data: { samples: 2_400_000, epochs: 1 } });

/** Chooses what a combobox finds by a text. */
export async function choose(page: Page, label: string, text: string): Promise<void> {
  const input = page.getByRole("combobox", { name: label, exact: true });
  await input.fill(text);
  await expect(page.locator(".options [role=option]").first()).toBeVisible();
  await input.press("Enter");
}

/** Ctrl+V with a text, while nothing that can be written into has the focus. */
export const paste = (page: Page, text: string) =>
  page.evaluate((text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
  }, text);

/** The box for errors, configurations and scripts. */
export const box = (page: Page) => page.locator("#paste-text");

/**
 * Opens the page, at a fragment or without, and waits for its answer, the parts below it, and the end of the thread of the first
 * module: from then on a change of a model that the page knows is answered in the same turn, however slow the machine.
 */
export async function open(page: Page, fragment = ""): Promise<void> {
  await page.goto(`./${fragment}`);
  await expect(page.locator("#verdict-headline")).toBeVisible();
  // The last of the parts below.
  await expect(page.locator("#share-title")).toBeAttached();
  await expect.poll(() => workers(page).filter((name) => name.startsWith("first-worker-"))).toEqual([]);
}

/** The files of the module that plans. */
export const SECOND = /\/(?:more-[^/]*\.js|plimsoll_more[^/]*)$/;

/** Nothing of the second module comes before the function that this returns is called. */
export async function holdSecondModule(page: Page): Promise<() => void> {
  let goOn = () => {};
  const held = new Promise<void>((done) => (goOn = done));
  await page.route(SECOND, async (route) => {
    await held;
    await route.continue();
  });
  return goOn;
}

/** Waits for the whole report, which takes the place of the quick one. */
export const wholeAnswer = (page: Page) =>
  page.waitForFunction(
    () =>
      (document.querySelector("plimsoll-app") as unknown as { view: { more?: object } }).view.more !==
      undefined,
  );

/** Waits for what comes last into the card. */
export const wholeCard = (page: Page) =>
  expect(page.locator(".limits:not(.stale)").getByRole("button", { name: /^Cheapest/ })).toBeVisible();

/** Opens a part of the answer: "timeline", "share". */
export const showTab = (page: Page, id: string) => page.locator(`#tab-${id}`).click();

/** The files that the threads of the page run. */
export const workers = (page: Page) => page.workers().map((worker) => worker.url().split("/").pop() ?? "");

export async function openEveryFold(part: Page | Locator): Promise<void> {
  const closed = part.locator("details:not([open]) > summary:visible");
  // A redraw may take a fold away between looking and clicking, so nothing waits for one.
  while ((await closed.count()) > 0) {
    await closed.evaluateAll((summaries) => (summaries[0] as HTMLElement | undefined)?.click());
  }
}

/** Opens a fold by its heading, once it is there, unless it is open. */
export async function unfold(page: Page, heading: string | RegExp): Promise<void> {
  const summary = page.locator("details > summary", { hasText: heading }).first();
  await expect(summary).toBeAttached();
  const open = page.locator("details[open] > summary", { hasText: heading });
  if ((await open.count()) === 0) await summary.click();
}

export const headline = (page: Page) => page.locator("#verdict-headline");

/** The figure under a heading of the verdict, as it is written: of the living page, which for a moment stands beside the first one. */
export const figure = (page: Page, name: string) =>
  page.locator("plimsoll-app .figures div").filter({ hasText: name }).locator("dd");

/** "14.73 GiB" to 14.73. */
export async function gibOf(page: Page, name: string): Promise<number> {
  // Not innerText: the tab may be closed.
  return Number.parseFloat(((await figure(page, name).textContent()) ?? "").replaceAll(",", ""));
}

/** The config.json of a model that no preset holds. */
export const UNKNOWN_MODEL = {
  model_type: "llama",
  hidden_size: 2048,
  intermediate_size: 5632,
  num_hidden_layers: 22,
  num_attention_heads: 32,
  num_key_value_heads: 4,
  vocab_size: 32000,
};
