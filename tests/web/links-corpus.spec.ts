// Links outlive versions. Every released form is kept in tests/links/ with the request it means and the total it showed;
// a line is never changed, only added. A total may change with the model; then the page says both figures.
import { readFileSync } from "node:fs";
import { decode, FROZEN, frozenFor, sameRequest } from "../../web/src/link.ts";
import type { Request } from "../../web/src/contract.ts";
import { say, type Word } from "../../web/src/words/say.ts";
import { expect, figure, headline, test } from "./page.ts";

interface Kept {
  link: string;
  request: Request;
  /** GiB on the device. */
  total: string;
}

const kept = readFileSync("tests/links/v1.jsonl", "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line) as Kept);

test("every kept link means the request that it meant", () => {
  expect(kept.length).toBeGreaterThan(5);
  for (const { link, request } of kept) {
    const decoded = decode(link);
    expect(decoded.kind).toBe("request");
    if (decoded.kind === "request") expect(sameRequest(decoded.request, request)).toBe(true);
  }
});

test("a link that is cut, damaged, foreign or from the future is not used, and the page says which", () => {
  const broken = readFileSync("tests/links/broken.tsv", "utf8")
    .split("\n")
    .filter((line) => line.includes("\t"));
  expect(broken.length).toBeGreaterThan(25);
  for (const [why = "", link = ""] of broken.map((line) => line.split("\t"))) {
    const decoded = decode(link);
    expect([link, decoded.kind]).toEqual([link, "broken"]);
    if (decoded.kind === "broken")
      expect([link, decoded.message]).toEqual([link, expect.stringContaining(say(why as Word))]);
  }
});

test("every kept link opens on its total, or says what it was", { tag: "@whole" }, async ({ page }) => {
  for (const { link, total } of kept) {
    await page.goto("about:blank");
    await page.goto(`./${link}`);
    await expect(headline(page)).toBeVisible();
    const now = (await figure(page, "nvidia-smi shows").innerText()).replace(/\s/g, " ");
    if (now !== `${total} GiB`) await expect(page.getByRole("alert")).toContainText(total);
    else await expect(page.getByRole("alert")).toHaveCount(0);
  }
});

test("the defaults that links of version 1 leave out are those of their time", async ({ page }) => {
  const frozen = JSON.parse(readFileSync("tests/links/v1-defaults.json", "utf8")) as Record<
    string,
    Record<string, unknown>
  >;
  await page.goto("./");
  await expect(headline(page)).toBeVisible();
  for (const [stack, defaults] of Object.entries(frozen)) {
    const request = { model: "mistral-7b-v0.3", stack, peft: { r: 16 } };
    await page.goto("about:blank");
    const { encode } = await import("../../web/src/link.ts");
    await page.goto(`./${encode(request)}`);
    await expect(headline(page)).toBeVisible();
    const now = await page.evaluate(() => {
      const app = document.querySelector("plimsoll-app") as unknown as {
        view: { report: { assumptions: { pointer: string; value: unknown }[] } };
      };
      return Object.fromEntries(app.view.report.assumptions.map(({ pointer, value }) => [pointer, value]));
    });
    const old = frozenFor(FROZEN["1"], stack);
    for (const [pointer, value] of Object.entries(defaults)) {
      expect([stack, pointer, now[pointer] ?? old[pointer]]).toEqual([stack, pointer, value]);
    }
  }
});
