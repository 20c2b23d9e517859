// Pictures of the first view for README.md: npm run screenshots, then look at them.
import { test } from "@playwright/test";

const sizes = {
  desktop: { width: 1280, height: 900 },
  phone: { width: 360, height: 780 },
};

for (const [name, viewport] of Object.entries(sizes)) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`${name}, ${colorScheme}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport);
      await page.goto("");
      await page.locator(".verdict").waitFor();
      const file = `${name}-${colorScheme}.png`;
      await page.screenshot({ path: `web/screenshots/${file}` });
      if (process.env["PLIMSOLL_FULL_SHOTS"]) {
        await page.screenshot({ path: `${process.env["PLIMSOLL_FULL_SHOTS"]}/${file}`, fullPage: true });
      }
    });
  }
}
