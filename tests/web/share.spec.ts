// What leaves the page: tables, pictures, code.
import { readFile } from "node:fs/promises";
import { encode } from "../../web/src/link.ts";
import { expect, headline, open, RUN, showTab, test, unfold, UNKNOWN_MODEL } from "./page.ts";

test.use({ permissions: ["clipboard-read", "clipboard-write"] });

const copied = (page: import("@playwright/test").Page) => page.evaluate(() => navigator.clipboard.readText());

test("the Markdown table holds the headline, the figures and the link", async ({ page }) => {
  await open(page);
  await showTab(page, "share");
  await page.getByRole("button", { name: "Copy Markdown table" }).click();
  await expect(page.locator(".told")).toContainText("Done");
  const text = await copied(page);
  const words = (await headline(page).locator("span").last().innerText()).trim().replace(/\s+/g, " ");
  expect(text).toContain(`**${words}**`);
  expect(text).toMatch(/\| Weights \| 13\.50 \| /);
  expect(text).toMatch(/\]\(http:[^)]*#v=1&model=mistralai/);
});

test("a link that is copied before its panel is drawn anew is that of the request on the page", async ({
  page,
}) => {
  await open(page, RUN);
  const button = page.getByRole("button", { name: "Copy link" });
  await button.scrollIntoViewIfNeeded();
  // In one turn of the page, so that nothing is drawn in between.
  await page.evaluate(() => {
    const input = document.querySelector<HTMLInputElement>("#field-training-max_length")!;
    input.value = "640";
    input.dispatchEvent(new Event("input", { bubbles: true }));
    document.querySelector<HTMLButtonElement>('[data-share="share.link"]')!.click();
  });
  await expect.poll(() => copied(page)).toMatch(/max_length=640/);
});

test("the link is the address", async ({ page }) => {
  await open(page, RUN);
  await page.getByLabel("Max length", { exact: true }).fill("512");
  // With the total, which both have once the answer is there.
  await expect(page).toHaveURL(/max_length=512.*&t=/);
  await page.getByRole("button", { name: "Copy link" }).click();
  await expect(page.locator(".told")).toContainText("Done");
  expect(await copied(page)).toBe(page.url());
});

test("for a chat, the link has the verdict in the line before it; the tab of the browser names the run", async ({
  page,
}) => {
  await open(page, RUN);
  await showTab(page, "share");
  await page.getByRole("button", { name: "Copy verdict and link" }).click();
  await expect.poll(() => copied(page)).toMatch(/^Fits the A10G 24GB with .*Mistral-7B.*\nhttp.*#v=1&/);
  await expect(page).toHaveTitle(/^Fits the A10G 24GB with .* mistralai\/Mistral-7B-v0\.3$/);
});

test("each download is a file of its kind", async ({ page }) => {
  await open(page);
  await showTab(page, "share");
  for (const [name, begins] of [
    ["Download card, SVG", "<svg "],
    ["Download badge, SVG", "<svg "],
    ["Download CSV", "instant,component,bytes"],
    ["Download card, PNG", "\u0089PNG"],
  ] as const) {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name }).click(),
    ]);
    const content = await readFile(await download.path());
    expect(content.toString("latin1").startsWith(begins), name).toBe(true);
    if (begins !== "<svg ") continue;
    // Parsed as XML, with nothing in it that runs or fetches.
    const text = content.toString("utf8");
    const names = await page.evaluate((svg) => {
      const tree = new DOMParser().parseFromString(svg, "image/svg+xml");
      return [...tree.querySelectorAll("*")].map((element) => element.localName);
    }, text);
    expect(names, name).not.toContain("parsererror");
    const active = ["script", "style", "image", "foreignObject", "use"];
    expect(
      names.filter((each) => active.includes(each)),
      name,
    ).toEqual([]);
  }
});

test("a model's name cannot bring markup into a table or a picture", async ({ page }) => {
  await page.goto("./");
  await expect(headline(page)).toBeVisible();
  const request = {
    model: {
      name: '=cmd|<img src=x onerror=alert(1)>"',
      config: UNKNOWN_MODEL,
    },
  };
  await page.locator("summary", { hasText: "as JSON" }).click();
  await page.locator("#request-text").fill(JSON.stringify(request));
  await showTab(page, "share");
  await page.getByRole("button", { name: "Copy Markdown table" }).click();
  await expect(page.locator(".told")).toContainText("Done");
  expect(await copied(page)).toContain("\\<img src=x onerror=alert(1)\\>");
  await page.getByRole("button", { name: "Download card, SVG" }).click();
  expect(await page.locator("img").count()).toBe(0);
});

test("the request is shown as a file of another tool, and as a checklist", async ({ page }) => {
  await open(page, RUN);
  await showTab(page, "share");
  const fold = page.locator("plimsoll-export");
  await fold.locator("summary").click();
  await expect(fold.locator("pre")).toContainText("base_model: mistralai/Mistral-7B-v0.3");
  await fold.getByLabel("Format").selectOption("checklist");
  await expect(fold.locator("pre")).toContainText("trainable params: ");
  await expect(fold.locator("pre")).toContainText("torch.cuda.max_memory_allocated()");
  await fold.getByRole("button", { name: "Copy the file" }).click();
  await expect(fold.locator(".told")).toContainText("Done");
  expect(await copied(page)).toMatch(/^# Checklist\n/);
  await page.getByLabel("Max length", { exact: true }).fill("512");
  await expect(fold.locator("pre")).toContainText("training.max_length: 512");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    fold.getByRole("button", { name: "Download the file" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("plimsoll-checklist.md");
});

test("the link is a QR code once somebody wants it, and says so where it is too long for one", async ({
  page,
}) => {
  await open(page, RUN);
  await showTab(page, "share");
  const fold = page.locator("plimsoll-qr");
  await expect(fold.locator("svg")).toHaveCount(0);
  await fold.locator("summary").click();
  const picture = fold.getByRole("img");
  await expect(picture).toBeVisible();
  // The three corners that readers look for: seven dark squares in a row, four squares from the edge.
  const size = Number((await picture.getAttribute("viewBox"))?.split(" ")[2]);
  expect((size - 8 - 17) % 4).toBe(0);
  const path = (await picture.locator("path").getAttribute("d")) ?? "";
  for (const corner of ["M4 4h7v", `M${size - 11} 4h7v`, `M4 ${size - 11}h7v`])
    expect(path).toContain(corner);
  const first = path;
  await page.getByLabel("Max length", { exact: true }).fill("512");
  await expect.poll(() => picture.locator("path").getAttribute("d")).not.toBe(first);
  await page.locator("summary", { hasText: "as JSON" }).click();
  const names = Array.from({ length: 60 }, (_, index) => `a_rather_long_name_${index}`);
  const request = { model: "mistral-7b-v0.3", peft: { r: 8, target_modules: [...names, "q_proj"] } };
  await page.locator("#request-text").fill(JSON.stringify(request));
  await expect(fold).toContainText("too fine");
});

test("a file whose tool has other defaults says what the run needs from it", async ({ page }) => {
  await open(
    page,
    "#v=1&model=Qwen/Qwen2.5-7B&stack=trl&peft.r=64&peft.target_modules=all-linear&training.bf16=true&training.gradient_checkpointing=true&training.per_device_train_batch_size=4&training.max_length=4096&hardware.gpu=a100-sxm-80",
  );
  await showTab(page, "share");
  await unfold(page, "As a file of another tool");
  await expect(page.locator(".export .needs")).toContainText(/Run from this file it needs [\d.]+.GiB/);
  await page.locator("#export-format").selectOption("trl-python");
  await expect(page.locator(".export pre")).toContainText("dtype=torch.float32");
});

for (const [what, locale, request] of [
  ["of one card that is too small", "en", { hardware: { gpu: "rtx-4090" } }],
  [
    "of eight cards",
    "en",
    { hardware: { gpu: "rtx-pro-6000-ws" }, parallel: { num_gpus: 8, strategy: "ddp" } },
  ],
  ["in German", "de", { hardware: { gpu: "rtx-3060-12" }, parallel: { num_gpus: 8, strategy: "fsdp" } }],
] as const) {
  test(`no word of the picture leaves it, ${what}, and the task is in it`, async ({ page }) => {
    const training = { per_device_train_batch_size: 64, max_length: 2048 };
    await open(
      page,
      encode({ model: "mistral-7b-v0.3", task: "dpo", peft: { r: 16 }, training, ...request }),
    );
    if (locale !== "en") await page.getByLabel("Language").selectOption(locale);
    await showTab(page, "share");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: /(card|Karte).*, SVG/ }).click(),
    ]);
    const svg = await readFile(await download.path(), "utf8");
    expect(svg).toContain("DPO, ");
    const boxes = await page.evaluate((svg) => {
      const host = document.createElement("div");
      host.append(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement);
      document.body.append(host);
      return [...host.querySelectorAll("text")].map((text) => {
        const { x, y, width, height } = text.getBBox();
        return { text: text.textContent, x, y, right: x + width, bottom: y + height };
      });
    }, svg);
    expect(boxes.filter(({ x, right }) => x < 12 || right > 628)).toEqual([]);
    // Nor does one lie on another.
    const over = boxes.flatMap((one, index) =>
      boxes
        .slice(index + 1)
        .filter(
          (other) =>
            one.x < other.right &&
            other.x < one.right &&
            other.y < one.bottom - 4 &&
            one.y < other.bottom - 4,
        )
        .map((other) => [one.text, other.text]),
    );
    expect(over).toEqual([]);
  });
}
