// An installed page is handed text and files by the system.
import { box, expect, open, test } from "./page.ts";

const ERROR =
  "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB (GPU 0; 22.20 GiB total capacity; 20.90 GiB already allocated; 100.12 MiB free; 21.10 GiB reserved in total by PyTorch)";
const YAML = "base_model: mistralai/Mistral-7B-v0.1\nadapter: lora\nlora_r: 8\nsequence_len: 1024\n";

test("shared text is put into the box and read", async ({ page }) => {
  // Not `open`: once the text is read, nothing of an answer is left to wait for.
  await page.goto(`./?text=${encodeURIComponent(ERROR)}`);
  await expect(box(page)).toHaveValue(ERROR);
  await expect(page.locator(".found").first()).toContainText("224.00 MiB");
});

test("a file that is opened with the page is read", async ({ page }) => {
  await page.addInitScript((text) => {
    Object.defineProperty(window, "launchQueue", {
      value: {
        setConsumer: (take: (launch: unknown) => void) =>
          take({ files: [{ getFile: () => Promise.resolve(new File([text], "lora.yaml")) }] }),
      },
    });
  }, YAML);
  await open(page);
  await expect(page.locator(".found").first()).toContainText("Axolotl");
  await expect(page).toHaveURL(/max_length=1024/);
});
