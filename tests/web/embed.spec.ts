// The card in pages of other people: another origin, a strict policy, storage blocked.
import { expect, test as base, type FrameLocator, type Page } from "@playwright/test";
import { encode } from "../../web/src/link.ts";

const HOST = "http://host.example";
const LINK = encode({
  model: "mistral-7b-v0.3",
  peft: { r: 16, target_modules: ["q_proj", "v_proj"] },
  training: { per_device_train_batch_size: 1, max_length: 256, gradient_checkpointing: true },
  hardware: { gpu: "a10g" },
});
const attribute = (text: string) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

const test = base.extend<{ host: (body: string, policy: string) => Promise<Page>; complaints: string[] }>({
  complaints: async ({ page }, use) => {
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    await use(complaints);
  },
  host: async ({ page }, use) => {
    await use(async (body, policy) => {
      await page.route(`${HOST}/**`, (route) =>
        route.fulfill({
          contentType: "text/html",
          headers: { "Content-Security-Policy": policy },
          body: `<!doctype html><html lang="en"><title>Host</title><body><h1>Team notes</h1>${body}</body></html>`,
        }),
      );
      await page.goto(`${HOST}/notes.html`);
      return page;
    });
  },
});

const frameHeight = (page: Page) => page.locator("iframe").evaluate((frame) => frame.clientHeight);
/** What the card says of itself. */
const ownHeight = (card: FrameLocator) =>
  card.locator("#card").evaluate((element) => Math.ceil(element.getBoundingClientRect().height));

test("one tag builds a frame that is as high as its card", async ({ host, baseURL, complaints }) => {
  const origin = new URL(baseURL ?? "").origin;
  const page = await host(
    `<script async src="${baseURL}embed.js" data-link="${attribute(LINK)}" data-theme="dark" data-colour="red"></script>`,
    `default-src 'none'; script-src ${origin}; frame-src ${origin}`,
  );
  const card = page.frameLocator("iframe");
  await expect(card.locator("h1")).toContainText("A10G");
  const content = await ownHeight(card);
  await expect.poll(() => frameHeight(page)).toBe(content);
  await page.setViewportSize({ width: 340, height: 800 });
  await expect.poll(() => frameHeight(page)).toBeGreaterThan(content);
  await expect(card.locator("html")).toHaveAttribute("data-theme", "dark");
  const way = card.getByRole("link", { name: "Open in Plimsoll" });
  await expect(way).toHaveAttribute("href", `${baseURL}${LINK}`);
  await expect(way).toHaveAttribute("rel", "noopener");
  expect(complaints).toEqual([]);
});

test("a sandboxed frame without storage still shows its card", async ({ host, baseURL }) => {
  const origin = new URL(baseURL ?? "").origin;
  const page = await host(
    `<iframe title="card" sandbox="allow-scripts" src="${baseURL}embed.html${attribute(LINK)}" width="600" height="240"></iframe>`,
    `default-src 'none'; frame-src ${origin}`,
  );
  await expect(page.frameLocator("iframe").locator("body")).toContainText("A10G");
});

test("a frame that may start no thread answers for models whose presets come later too", async ({
  host,
  baseURL,
}) => {
  const origin = new URL(baseURL ?? "").origin;
  const link = encode({ model: "gpt2", hardware: { gpu: "l4" } });
  const page = await host(
    `<iframe title="card" sandbox="allow-scripts" src="${baseURL}embed.html${attribute(link)}" width="600" height="240"></iframe>`,
    `default-src 'none'; frame-src ${origin}`,
  );
  await expect(page.frameLocator("iframe").locator("h1")).toContainText("L4");
});

test("the page around a frame is not believed when another window speaks", async ({ host, baseURL }) => {
  const origin = new URL(baseURL ?? "").origin;
  const page = await host(
    `<script async src="${baseURL}embed.js" data-link="${attribute(LINK)}"></script>`,
    `default-src 'none'; script-src ${origin} 'unsafe-inline'; frame-src ${origin}`,
  );
  const card = page.frameLocator("iframe");
  await expect(card.locator("h1")).toContainText("A10G");
  const before = await ownHeight(card);
  await expect.poll(() => frameHeight(page)).toBe(before);
  // Read by the script of the tag, which listens since before, when it comes here.
  await page.evaluate(
    () =>
      new Promise<void>((read) => {
        window.addEventListener("message", (event) => {
          if (event.source === window) read();
        });
        window.postMessage({ app: "plimsoll", v: 1, type: "resize", height: 9000 }, "*");
      }),
  );
  expect(await frameHeight(page)).toBe(before);
  // The same from the frame itself is believed.
  await card.locator("html").evaluate(() => {
    window.parent.postMessage({ app: "plimsoll", v: 1, type: "resize", height: 700 }, "*");
  });
  await expect.poll(() => frameHeight(page)).toBe(700);
});

test("the page around a frame may change its link and its theme", async ({ host, baseURL }) => {
  const origin = new URL(baseURL ?? "").origin;
  const page = await host(
    `<iframe title="card" src="${baseURL}embed.html${attribute(LINK)}" width="600" height="240"></iframe>`,
    `default-src 'none'; frame-src ${origin}`,
  );
  const card = page.frameLocator("iframe");
  await expect(card.locator("h1")).toContainText("A10G");
  const say = (message: unknown) =>
    page
      .locator("iframe")
      .evaluate(
        (frame, sent) => (frame as HTMLIFrameElement).contentWindow?.postMessage(sent, "*"),
        message as Record<string, unknown>,
      );
  const other = encode({ model: "mistral-7b-v0.3", peft: { r: 16 }, hardware: { gpu: "l4" } });
  await say({ app: "plimsoll", v: 2, type: "link", link: other });
  await say({ app: "plimsoll", v: 1, type: "theme", theme: "dark" });
  await expect(card.locator("html")).toHaveAttribute("data-theme", "dark");
  await expect(card.locator("h1")).toContainText("A10G");
  await say({ app: "plimsoll", v: 1, type: "link", link: other });
  await expect(card.locator("h1")).toContainText("L4");
});

test("the custom element draws the same card without a frame", async ({ host, baseURL, complaints }) => {
  const origin = new URL(baseURL ?? "").origin;
  const page = await host(
    `<script type="module" src="${baseURL}plimsoll-card.js"></script><plimsoll-card link="${attribute(LINK)}"></plimsoll-card>`,
    `default-src 'none'; script-src ${origin} 'wasm-unsafe-eval'; connect-src ${origin}; style-src 'self'`,
  );
  await expect(page.locator("plimsoll-card h1")).toContainText("A10G");
  const fill = await page
    .locator("plimsoll-card .card-bar rect")
    .nth(1)
    .evaluate((element) => getComputedStyle(element).fill);
  expect(fill).not.toBe("rgb(0, 0, 0)");
  expect(complaints).toEqual([]);
});

test("a card that says another total than its link was made with says both", async ({ page, baseURL }) => {
  const request = { model: "mistral-7b-v0.3", hardware: { gpu: "a10g" } };
  await page.goto(`${baseURL}embed.html${encode(request, { version: "0.0.9", total: "1.23" })}`);
  const changed = page.locator(".card .changed");
  await expect(changed).toContainText("This link was made by Plimsoll 0.0.9, which said 1.23");
  const now = /now it is ([\d.]+)/.exec(await changed.innerText())?.[1] ?? "";
  await page.goto(`${baseURL}embed.html${encode(request, { version: "0.0.9", total: now })}`);
  await page.reload();
  await expect(page.locator(".card h1")).toContainText("A10G");
  await expect(changed).toHaveCount(0);
});

test("a card whose link was cut says so", async ({ page, baseURL }) => {
  await page.goto(`${baseURL}embed.html${LINK.slice(0, -3)}`);
  await expect(page.getByRole("alert")).toContainText("incomplete");
});

test("the builder gives code that shows the card", async ({ page, baseURL, host, complaints }) => {
  await page.goto(`${baseURL}docs/embed.html${LINK}`);
  const code = await page.getByLabel("A frame", { exact: true }).inputValue();
  await expect(page.frameLocator("iframe").locator("h1")).toContainText("A10G");
  const picture = page.getByRole("img", { name: /as a picture/ });
  await expect(picture).toHaveAttribute("src", /^data:image\/svg\+xml,.*A10G/);
  expect(await picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(640);
  expect(complaints).toEqual([]);
  const origin = new URL(baseURL ?? "").origin;
  await host(code, `default-src 'none'; frame-src ${origin}`);
  await expect(page.frameLocator("iframe").locator("h1")).toContainText("A10G");
});
