// The second module works in a thread of its own: the page answers meanwhile, and what nobody waits for is not computed.
import { encode } from "../../web/src/link.ts";
import { queue } from "../../web/src/queue.ts";
import { test as base } from "@playwright/test";
import { expect, headline, holdSecondModule, open, RUN, test, workers } from "./page.ts";

test("a queue hands over one call at a time, urgent ones first, and drops what was asked anew", async () => {
  const begun: string[] = [];
  const finish: (() => void)[] = [];
  const ask = queue(({ name, values }) => {
    begun.push(`${name} ${String(values[0])}`);
    return new Promise((done) => finish.push(() => done(values[0])));
  });
  const one = ask({ name: "advise", values: [1] }, { supersedes: true });
  const two = ask({ name: "advise", values: [2] }, { supersedes: true });
  const three = ask({ name: "advise", values: [3] }, { supersedes: true });
  const urgent = ask({ name: "answer", values: [4] }, { first: true });
  expect(begun).toEqual(["advise 1"]);
  await expect(two).rejects.toMatchObject({ name: "AbortError" });
  finish[0]?.();
  expect(await one).toBe(1);
  await expect.poll(() => begun).toEqual(["advise 1", "answer 4"]);
  finish[1]?.();
  expect(await urgent).toBe(4);
  await expect.poll(() => begun).toEqual(["advise 1", "answer 4", "advise 3"]);
  finish[2]?.();
  expect(await three).toBe(3);
});

test("a call that fails does not hold up the next", async () => {
  const ask = queue(({ values }) => (values[0] === 1 ? Promise.reject(new Error("no")) : Promise.resolve(2)));
  const [first, second] = [ask({ name: "a", values: [1] }), ask({ name: "b", values: [2] })];
  await expect(first).rejects.toThrow("no");
  expect(await second).toBe(2);
});

test("the page has one thread, and the last of many quick changes is the one that is planned for", async ({
  page,
}) => {
  await open(page, RUN);
  await expect(page.locator("section:not([aria-busy]) > #plans-title")).toBeVisible();
  expect(workers(page)).toEqual([expect.stringMatching(/^more-worker-.*\.js$/)]);
  const length = page.getByLabel("Max length", { exact: true });
  for (const tokens of ["512", "16384", "1024", "32768"]) await length.fill(tokens);
  await expect(headline(page)).toContainText("Does not fit");
  await expect(page.locator(".plan").first()).toBeVisible();
  const bars = page.locator(".plan p b").first();
  await expect(bars).toContainText("GiB");
});

test("a model whose preset comes later is answered, changed and linked", async ({ page }) => {
  await open(page, encode({ model: "gpt2", training: { max_length: 256 }, hardware: { gpu: "l4" } }));
  await expect(headline(page)).toContainText("Fits the L4");
  const before = await headline(page).innerText();
  await page.getByLabel("Micro-batch", { exact: true }).fill("64");
  await expect(headline(page)).not.toHaveText(before);
  await expect(page).toHaveURL(/per_device_train_batch_size=64&.*&t=/);
});

test("a rare method of PEFT is answered at first sight", async ({ page }) => {
  const ia3 = { peft_type: "IA3", target_modules: ["k_proj", "v_proj", "down_proj"] };
  const training = { max_length: 1024 };
  await page.goto(
    `./${encode({ model: "mistral-7b-v0.3", peft: ia3, training, hardware: { gpu: "a10g" } })}`,
  );
  await expect(headline(page)).toContainText("Does not fit the A10G");
  await expect(page.locator("#errors-title")).toHaveCount(0);
  await expect(page.locator("#share-title")).toBeAttached();
});

test("where no thread may be started, the page works by itself", async ({ page }) => {
  await page.addInitScript(() => {
    window.Worker = class {
      constructor() {
        throw new DOMException("no thread here", "SecurityError");
      }
    } as unknown as typeof Worker;
  });
  await open(page, RUN);
  await expect(headline(page)).toContainText("Fits");
  await page.getByLabel("Max length", { exact: true }).fill("32768");
  await expect(headline(page)).toContainText("Does not fit");
  await expect(page.locator(".plan").first()).toBeVisible();
  expect(workers(page)).toEqual([]);
});

test("what is typed before the page has an instance of its own is answered by the thread", async ({
  page,
}) => {
  // The instance is opened with the parts below, which are held back.
  let goOn = () => {};
  const held = new Promise<void>((done) => (goOn = done));
  await page.route("**/assets/first-here-*.js", async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`./${RUN}`);
  await expect(headline(page)).toContainText("Fits");
  await page.getByLabel("Max length", { exact: true }).fill("32768");
  await expect(headline(page)).toContainText("Does not fit");
  expect(workers(page)).toContainEqual(expect.stringMatching(/^first-worker-.*\.js$/));
  goOn();
  await expect(page.locator(".plan").first()).toBeVisible();
  await page.getByLabel("Max length", { exact: true }).fill("512");
  await expect(headline(page)).toContainText("Fits");
});

base("a module that cannot be fetched is said, and nothing else is", async ({ page }) => {
  await page.route("**/*.wasm", (route) => route.abort());
  await page.goto("./");
  await expect(page.getByText("The calculator could not be loaded")).toBeVisible();
  await expect(page.locator("#first")).toHaveCount(0);
});

// The quick report takes a share for what PyTorch reserves; the whole one simulates its allocator.
test("the whole report takes the place of the quick one", async ({ page }) => {
  const release = await holdSecondModule(page);
  await open(page, RUN);
  const reserved = page
    .locator("plimsoll-app .figures div")
    .filter({ hasText: "PyTorch reserves" })
    .locator("dd");
  const before = await reserved.innerText();
  release();
  await expect(reserved).not.toHaveText(before);
  await expect(headline(page)).toContainText("Fits");
});
