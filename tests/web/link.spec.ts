import { decode, encode, sameRequest } from "../../web/src/link.ts";
import type { Json, Request } from "../../web/src/contract.ts";
import { choose, expect, headline, open, RUN, test, unfold, UNKNOWN_MODEL } from "./page.ts";

/** The same numbers in every run. */
function dice(seed: number): (count: number) => number {
  return (count) => {
    seed = (seed * 48271) % 2147483647;
    return seed % count;
  };
}

test.describe("the form of a link", () => {
  const requests: Record<string, Request> = {
    "a plain one": { model: "mistral-7b-v0.3", training: { max_length: 512, bf16: true } },
    "a Hugging Face id": { model: "mistralai/Mistral-7B-v0.3" },
    "lists of every length": { peft: { target_modules: ["q_proj"], a: [], b: ["x", "y"] } },
    "a list of numbers": { model: { config: { shape: [1, 2.5, -3] } } },
    "an empty object and null": { model: "gpt2", quantization: null, peft: {} },
    "words that look like something else": { a: "true", b: "1e5", c: "null", d: "01-ai/Yi-6B", e: "" },
    "text with every kind of sign": { a: "50 % & more = #1, \"ü\" + '~1.~0'", "k.e~y&=": "x, y" },
    "lists that are not words": { a: ["1", "a,b"], b: [["x"]], c: [{ d: 1 }] },
    "a key that JavaScript treats specially": JSON.parse(
      '{"__proto__": {"x": 1}, "constructor": 2}',
    ) as Request,
  };
  for (const [name, request] of Object.entries(requests)) {
    test(`carries ${name}`, () => {
      const decoded = decode(encode(request));
      expect(decoded.kind).toBe("request");
      if (decoded.kind === "request") {
        expect(JSON.stringify(decoded.request)).toBe(JSON.stringify(request));
        expect(sameRequest(decoded.request, request)).toBe(true);
      }
    });
  }

  test("is readable and ends in its checksum", () => {
    const link = encode({
      schema: 1,
      model: "mistral-7b-v0.3",
      peft: { target_modules: ["q_proj", "v_proj"] },
      training: { max_length: 512 },
    });
    expect(link).toMatch(
      /^#v=1&model=mistral-7b-v0\.3&peft\.target_modules=q_proj,v_proj&training\.max_length=512&c=[0-9a-z]{4}$/,
    );
  });

  test("survives programs that escape more than they need to", () => {
    const link = encode({ peft: { target_modules: ["q_proj", "v_proj"] } });
    expect(decode(link.replaceAll(",", "%2C").replaceAll("_", "%5F")).kind).toBe("request");
  });

  test("is refused when any of it is cut off or changed, and said to be unchecked when it says nothing of itself", () => {
    const link = encode(
      { model: "mistral-7b-v0.3", training: { max_length: 512 } },
      { version: "1.0.0", total: "14.20" },
    );
    const own = link.indexOf("&by");
    for (let length = 2; length < link.length; ++length) {
      const decoded = decode(link.slice(0, length));
      if (length >= own + 4) expect(decoded.kind).toBe("broken");
      else if (decoded.kind === "request") expect(decoded.unchecked).toBe(true);
    }
    expect(decode(link.replace("512", "511")).kind).toBe("broken");
  });

  test("damaged anywhere, it is refused, or means what it meant, or is said to be unchecked", () => {
    const draw = dice(20_260_128);
    const links = Object.values(requests).map((request) =>
      encode(request, draw(2) === 0 ? { version: "1.0.0", total: "14.20" } : undefined),
    );
    const signs = [...'&=.,#%~"{}[]0aZ_-+/: ', "%00", "%E0", "v=1", "&c=", "&by=", "&tab=", "__proto__", "ü"];
    const kinds = new Map<string, number>();
    for (let times = 0; times < 20_000; ++times) {
      const whole = links[draw(links.length)]!;
      let link = whole;
      for (let spots = 1 + draw(3); spots > 0; --spots) {
        const at = draw(link.length + 1);
        const end = at + draw(4);
        const put = [signs[draw(signs.length)]!, "", link.slice(at, end).repeat(2)][draw(3)]!;
        link = link.slice(0, at) + put + link.slice(end);
      }
      const decoded = decode(link);
      const meant = decode(whole);
      kinds.set(decoded.kind, (kinds.get(decoded.kind) ?? 0) + 1);
      if (decoded.kind !== "request" || meant.kind !== "request" || decoded.unchecked) continue;
      expect([link, sameRequest(decoded.request, meant.request)]).toEqual([link, true]);
    }
    // The damaged links of a request with a key "__proto__" gave it to no other object.
    expect("x" in {}).toBe(false);
    expect(kinds.get("broken")).toBeGreaterThan(15_000);
    expect(kinds.get("request")).toBeGreaterThan(100);
  });

  test("carries whatever request there could be", () => {
    const draw = dice(36);
    const words = [
      "a",
      "-",
      "true",
      "null",
      "1",
      "1e9",
      "[]",
      ",",
      ".",
      "~",
      "~1",
      "%",
      "&",
      "=",
      "#",
      '"',
      " ",
      "ü",
      "😀",
    ];
    const text = () => Array.from({ length: 1 + draw(3) }, () => words[draw(words.length)]!).join("");
    const value = (depth: number): Json => {
      switch (draw(depth > 2 ? 4 : 6)) {
        case 0:
          return text();
        case 1:
          return [0, -1, 0.5, 1e300, 9007199254740991][draw(5)]!;
        case 2:
          return [true, false, null, ""][draw(4)]!;
        case 3:
          return Array.from({ length: draw(3) }, text);
        case 4:
          return Array.from({ length: draw(3) }, () => value(depth + 1));
        default:
          return Object.fromEntries(Array.from({ length: draw(4) }, () => [text(), value(depth + 1)]));
      }
    };
    for (let times = 0; times < 2_000; ++times) {
      const request: Request = { model: text(), training: value(1), [`x${text()}`]: value(0) };
      const decoded = decode(encode(request));
      expect(JSON.stringify(decoded)).toBe(JSON.stringify({ kind: "request", request, unchecked: false }));
    }
  });

  test("keeps the defaults of its time, those of its own stack before those of all", () => {
    const frozen = {
      "1": {
        "*": { "/training/max_length": 512, "/training/optim": "adamw_torch", "/peft/r": 8 },
        trl: { "/training/max_length": 1024 },
        hf: { "/training/bf16": false },
      },
    };
    const means = (request: Request): Request => {
      const decoded = decode(encode(request), frozen);
      return decoded.kind === "request" ? decoded.request : {};
    };
    const optim = "adamw_torch";
    expect(means({ model: "gpt2", stack: "axolotl" })["training"]).toEqual({ max_length: 512, optim });
    expect(means({ model: "gpt2", stack: "trl" })["training"]).toEqual({ max_length: 1024, optim });
    // Who names no stack has Transformers' Trainer.
    expect(means({ model: "gpt2" })["training"]).toEqual({ max_length: 512, optim, bf16: false });
    expect(means({ stack: "trl", training: { max_length: 64 } })["training"]).toEqual({
      max_length: 64,
      optim,
    });
    // A default of adapters makes none.
    expect(means({ stack: "trl" })["peft"]).toBeUndefined();
    expect(means({ stack: "trl", peft: { lora_alpha: 16 } })["peft"]).toEqual({ lora_alpha: 16, r: 8 });
  });

  test("is refused, in other words, when a newer version made it", () => {
    const decoded = decode("#v=2&model=gpt2&c=0000");
    expect(decoded.kind === "broken" && decoded.message).toContain("newer version");
  });

  test("is refused when it names a setting twice, or as both a value and a group", () => {
    expect(decode("#").kind).toBe("empty");
    expect(decode("#nonsense").kind).toBe("broken");
    expect(decode("#v=1&a=%E0%A4%A&c=0000").kind).toBe("broken");
  });
});

test("a change is in the address, and the address brings it back", async ({ page, context }) => {
  await open(page, RUN);
  await page.getByLabel("Max length", { exact: true }).fill("1024");
  await choose(page, "GPU", "l4");
  await expect(page).toHaveURL(/#v=1&.*training\.max_length=1024&.*hardware\.gpu=l4&.*c=[0-9a-z]{4}$/);
  const answer = await headline(page).innerText();
  const second = await context.newPage();
  await second.goto(page.url());
  await expect(second.locator("#verdict-headline")).toHaveText(answer);
  await expect(second.getByLabel("Max length")).toHaveValue("1024");
  await second.close();
});

test("Back undoes the large steps one by one, Forward does them again", async ({ page }) => {
  await open(page);
  const first = await headline(page).innerText();
  await unfold(page, "Examples");
  await page.locator('[data-scenario="c-before"]').click();
  await expect(headline(page)).toContainText("Quadro RTX 6000");
  await choose(page, "GPU", "a100-sxm-80");
  await expect(headline(page)).toHaveText("Which run is it?");
  await page.goBack();
  await expect(headline(page)).toContainText("Quadro RTX 6000");
  await expect(page.locator("plimsoll-app .shown")).toContainText("Example: ");
  await page.goBack();
  await expect(headline(page)).toHaveText(first);
  await expect(page.locator("plimsoll-app .shown")).toContainText("Example: Mistral-7B LoRA on an A10G");
  await page.goForward();
  await expect(headline(page)).toContainText("Quadro RTX 6000");
});

test("typing changes the address without filling the history", async ({ page }) => {
  await open(page, RUN);
  const length = await page.evaluate(() => history.length);
  await page.getByLabel("Max length", { exact: true }).press("End");
  await page.getByLabel("Max length", { exact: true }).pressSequentially("00");
  await expect(page).toHaveURL(/max_length=25600/);
  expect(await page.evaluate(() => history.length)).toBe(length);
});

test("a link typed by hand is read, and said to be unchecked", async ({ page }) => {
  await open(page, "#v=1&model=gpt2&hardware.gpu=l4&training.max_length=512");
  await expect(page.getByRole("alert")).toContainText("no checksum");
  await expect(headline(page)).toContainText("Fits the L4");
});

test("a link typed by hand needs no version either; one that lost its head does not read as another run", () => {
  const read = decode("#model=gpt2&hardware.gpu=l4");
  expect(read).toMatchObject({ kind: "request", unchecked: true, request: { hardware: { gpu: "l4" } } });
  expect(decode(encode({ model: "gpt2", stack: "trl" }).replace("v=1&", "")).kind).toBe("broken");
});

test("a cut link says so and loads nothing of itself", async ({ page }) => {
  await open(page, encode({ model: "gpt2", hardware: { gpu: "l4" } }).slice(0, -2));
  await expect(page.getByRole("alert")).toContainText("incomplete");
  await expect(headline(page)).toContainText("A10G");
});

test("a link with a key that the core does not know is answered by the core", async ({ page }) => {
  await page.goto(`./${encode({ model: "gpt2", training: { max_lenght: 3 } })}`);
  await expect(page.locator(".message")).toContainText("max_lenght");
  await expect(page.locator("#verdict-headline")).toHaveCount(0);
  await unfold(page, "Examples");
  await page.locator('[data-scenario="d-after"]').click();
  await expect(headline(page)).toContainText("A10G");
});

test("a model of one's own travels in the link", async ({ page, context }) => {
  const config = UNKNOWN_MODEL;
  const model = { name: "ours", config };
  await open(page, encode({ model, training: { max_length: 512 }, hardware: { gpu: "l4" } }));
  await expect(headline(page)).toContainText("L4");
  await page.getByLabel("Max length", { exact: true }).fill("1024");
  await expect(page).toHaveURL(/model\.config\.hidden_size=2048&.*max_length=1024&.*&t=/);
  const answer = await headline(page).innerText();
  const second = await context.newPage();
  await second.goto(page.url());
  await expect(second.locator("#verdict-headline")).toHaveText(answer);
  await expect(second.getByLabel("Max length")).toHaveValue("1024");
  await second.close();
});

test("each part of the answer has an address, which is no part of the request", async ({ page }) => {
  const request = encode({ model: "gpt2", hardware: { gpu: "l4" }, training: { max_length: 512 } });
  await open(page, `${request}&tab=limits`);
  await expect(page.getByRole("alert")).toHaveCount(0);
  await expect(page.getByRole("tab", { name: "Limits" })).toHaveAttribute("aria-selected", "true");
  await expect(page.locator("#limits-title")).toBeVisible();
  await expect(page.locator("#plans-title")).toBeHidden();
  await page.getByRole("tab", { name: "Cost" }).click();
  await expect(page).toHaveURL(/&c=[0-9a-z]{4}&tab=cost$/);
  // A change of the request keeps the tab, the first tab needs no address, and neither does the opening case.
  await page.getByLabel("Max length", { exact: true }).fill("640");
  await expect(page).toHaveURL(/max_length=640&.*&tab=cost$/);
  await page.getByRole("tab", { name: "Fixes" }).click();
  await expect(page).toHaveURL(/&c=[0-9a-z]{4}$/);
  await page.goto("./#tab=share");
  await page.reload();
  await expect(page.locator("plimsoll-app .shown")).toContainText("Example: Mistral-7B LoRA on an A10G");
  await expect(page.locator("#share-title")).toBeVisible();
  // One that there is not opens the first.
  await open(page, `${request}&tab=nonsense`);
  await expect(page.locator("#plans-title")).toBeVisible();
});
