// The built site in Firefox, driven over WebDriver BiDi: what a person does first, the thread of the second module, and a visit
// without a network. The rest of the browser tests need Playwright's own Firefox, which no package of Debian is.
//
//     node tests/web/firefox.mjs      after ./dev build; PLIMSOLL_FIREFOX names the browser where it is not firefox-esr
import assert from "node:assert/strict";
import puppeteer from "puppeteer-core";
import { preview } from "vite";

const PORT = 4197;
const HOME = `http://127.0.0.1:${PORT}/some/where/`;
const ERROR =
  "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB (GPU 0; 22.20 GiB total capacity; 20.90 GiB already allocated; 100.12 MiB free; 21.10 GiB reserved in total by PyTorch)";
const GPT2 = { model: "gpt2", training: { max_length: 256 }, hardware: { gpu: "l4" } };

const server = await preview({
  configFile: "web/vite.config.ts",
  base: "/some/where/",
  preview: { host: "127.0.0.1", port: PORT, strictPort: true },
});
const browser = await puppeteer.launch({
  browser: "firefox",
  executablePath: process.env.PLIMSOLL_FIREFOX ?? "/usr/bin/firefox-esr",
  headless: true,
  timeout: 120_000,
});

/** A page of its own, and what it must never do: throw, complain, ask somebody else. */
async function visit(address = HOME) {
  const page = await browser.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(`threw ${error.message}`));
  page.on("console", (message) => {
    if (["error", "warn"].includes(message.type())) complaints.push(`said ${message.text()}`);
  });
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== new URL(HOME).origin && !["data:", "blob:"].includes(protocol))
      complaints.push(request.url());
  });
  await page.goto(address);
  return { page, complaints };
}

const words = (page, selector) =>
  page.$eval(selector, (element) => element.innerText.replaceAll(/\s+/g, " "));
const until = (page, test, ...values) => page.waitForFunction(test, { timeout: 30_000 }, ...values);
const says = (page, selector, text) =>
  until(page, (at, what) => document.querySelector(at)?.textContent?.includes(what), selector, text);
const press = (page, selector) => page.$eval(selector, (element) => element.click());
const write = (page, selector, text) =>
  page.$eval(
    selector,
    (input, value) => {
      input.value = value;
      input.dispatchEvent(new InputEvent("input", { bubbles: true }));
    },
    text,
  );

const cases = {
  async "the first view answers, and its parts follow"() {
    const { page, complaints } = await visit();
    await says(page, "#verdict-headline", "A10G");
    for (const part of ["plans", "timeline", "tiers", "limits", "machines", "share"]) {
      await page.waitForSelector(`#${part}-title`, { timeout: 30_000 });
    }
    assert.deepEqual(complaints, []);
    await page.close();
  },
  async "a key press changes the verdict and the address; a plan is applied and undone"() {
    const { page, complaints } = await visit();
    await page.waitForSelector("section:not([aria-busy]) > #plans-title", { timeout: 30_000 });
    await press(page, ".shown .link");
    await write(page, "#field-training-max_length", "32768");
    await says(page, "#verdict-headline", "Does not fit");
    await until(page, () => location.hash.includes("max_length=32768"));
    await page.waitForSelector(".plan .apply", { timeout: 30_000 });
    await press(page, ".plan .apply");
    await says(page, "#verdict-headline", "Fits");
    await page.waitForSelector(".undo button", { timeout: 30_000 });
    await press(page, ".undo button");
    await says(page, "#verdict-headline", "Does not fit");
    assert.deepEqual(complaints, []);
    await page.close();
  },
  async "an error is explained"() {
    const { page, complaints } = await visit();
    await page.waitForSelector("#paste-text", { timeout: 30_000 });
    await write(page, "#paste-text", ERROR);
    await says(page, ".found", "224.0");
    assert.deepEqual(complaints, []);
    await page.close();
  },
  async "a link to a model whose preset comes later is answered"() {
    const { page, complaints } = await visit();
    await page.waitForSelector("#request-text", { timeout: 30_000 });
    await write(page, "#request-text", JSON.stringify(GPT2));
    await says(page, "#verdict-headline", "L4");
    await until(page, () => location.hash.includes("model=gpt2") && location.hash.includes("&t="));
    const link = await page.evaluate(() => location.href);
    const again = await visit("about:blank");
    await again.page.goto(link);
    await says(again.page, "#verdict-headline", "L4");
    assert.deepEqual([...complaints, ...again.complaints], []);
    await page.close();
    await again.page.close();
  },
  async "a frame shows its card"() {
    const { page } = await visit();
    await page.waitForSelector("#share-title", { timeout: 30_000 });
    await press(page, ".shown .link");
    await write(page, "#field-training-max_length", "512");
    await until(page, () => location.hash.includes("max_length=512"));
    const link = await page.evaluate(() => location.hash);
    const card = await visit(`${HOME}embed.html${link}`);
    await says(card.page, ".card h1", "A10G");
    assert.deepEqual(card.complaints, []);
    await page.close();
    await card.page.close();
  },
  async "after one visit it works with the server gone"() {
    const { page } = await visit();
    await until(page, () =>
      navigator.serviceWorker.ready.then((ready) => ready.active?.state === "activated"),
    );
    await server.close();
    await page.reload();
    await says(page, "#verdict-headline", "A10G");
    await page.waitForSelector("section:not([aria-busy]) > #plans-title", { timeout: 30_000 });
    assert.match(await words(page, "footer"), /nothing is sent anywhere/);
    await page.close();
  },
};

let failed = 0;
for (const [name, walk] of Object.entries(cases)) {
  try {
    await walk();
    console.log(`ok      ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
console.log(await browser.version());
await browser.close();
console.log(`${Object.keys(cases).length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
