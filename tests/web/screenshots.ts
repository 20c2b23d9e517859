// Pictures of the page. npm run screenshots writes the first view for README.md; with PLIMSOLL_SHOTS=FOLDER every state goes
// there as well: 1280 and 360 pixels, light and dark. Then look at them.
import type { Page } from "@playwright/test";
import { encode } from "../../web/src/link.ts";
import { open, showTab, test } from "./page.ts";

const folder = process.env["PLIMSOLL_SHOTS"];
const sizes = {
  desktop: { width: 1280, height: 900 },
  phone: { width: 360, height: 780 },
};

const DIED = encode({
  model: "Qwen/Qwen2.5-7B",
  model_args: { dtype: "bfloat16" },
  peft: { r: 128, lora_alpha: 256, target_modules: "all-linear" },
  training: {
    per_device_train_batch_size: 2,
    gradient_accumulation_steps: 8,
    max_length: 2048,
    bf16: true,
    gradient_checkpointing: true,
  },
  hardware: { gpu: "rtx-3090" },
});
const ERROR =
  "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB (GPU 0; 22.20 GiB total capacity; 20.90 GiB already allocated; 100.12 MiB free; 21.10 GiB reserved in total by PyTorch)";

const part = (id: string) => async (page: Page) => {
  await showTab(page, id);
  await page.locator(`#tab-${id}`).scrollIntoViewIfNeeded();
};

/** What is done before a picture is taken of the page as opened at a fragment. */
const states: Record<string, { at?: string; first?: (page: Page) => Promise<void>; whole?: boolean }> = {
  whole: { whole: true },
  died: { at: DIED, whole: true },
  figure: {
    first: async (page) => {
      await showTab(page, "breakdown");
      await page.locator(".figures .opens").nth(1).click();
    },
  },
  timeline: { at: DIED, first: part("timeline") },
  plans: { at: DIED, first: part("fixes") },
  compare: {
    at: DIED,
    first: async (page) => {
      await showTab(page, "compare");
      await page.getByRole("button", { name: "Compare against this" }).click();
      await page.locator(".ways .apply").first().click();
      await page.locator("section[aria-labelledby=compare-title] tbody").waitFor();
      await part("compare")(page);
    },
  },
  diagnosis: {
    first: async (page) => {
      await page.locator("#paste-text").fill(ERROR);
      await page.locator(".found").first().waitFor();
    },
  },
};

for (const [name, viewport] of Object.entries(sizes)) {
  for (const colorScheme of ["light", "dark"] as const) {
    test.describe(`${name}, ${colorScheme}`, () => {
      test.beforeEach(async ({ page }) => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
      });

      test("first view", async ({ page }) => {
        await open(page);
        await page.locator("section:not([aria-busy]) > #plans-title").waitFor();
        await page.screenshot({ path: `web/screenshots/${name}-${colorScheme}.png` });
      });

      if (folder) {
        for (const [state, { at, first, whole }] of Object.entries(states)) {
          test(state, async ({ page }) => {
            await open(page, at);
            await page.locator("#timeline-title").waitFor();
            await first?.(page);
            // What is out of sight is not drawn on the page, but in a picture of all of it.
            if (whole) {
              await page.evaluate(() => {
                for (const panel of document.querySelectorAll<HTMLElement>(".rest .panel"))
                  panel.style.contentVisibility = "visible";
              });
            }
            await page.screenshot({
              path: `${folder}/${state}-${name}-${colorScheme}.png`,
              fullPage: whole ?? false,
            });
          });
        }
        for (const docs of ["accuracy", "embed", "glossary"]) {
          test(docs, async ({ page }) => {
            await page.goto(`./docs/${docs}.html`);
            await page.waitForLoadState("networkidle");
            await page.screenshot({ path: `${folder}/${docs}-${name}-${colorScheme}.png` });
          });
        }
      }
    });
  }
}
