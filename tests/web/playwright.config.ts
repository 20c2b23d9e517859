// The built site, served under a sub-path as GitHub Pages would, in the Chromium that is installed. Nothing is
// downloaded: PLIMSOLL_CHROMIUM names the browser where it is not /usr/bin/chromium.
import { defineConfig } from "@playwright/test";

const port = Number(process.env["PLIMSOLL_TEST_PORT"] ?? 4179);
const address = `http://127.0.0.1:${port}/some/where/`;
const asRoot = process.getuid?.() === 0;

export default defineConfig({
  testDir: ".",
  outputDir: "../../test-results",
  fullyParallel: true,
  workers: 2,
  forbidOnly: true,
  reporter: "list",
  // A busy machine takes its time: what must be fast is measured in speed.spec.ts.
  timeout: 180_000,
  expect: { timeout: 40_000 },
  projects: [
    { name: "page", testMatch: "*.spec.ts", testIgnore: "speed.spec.ts" },
    // What is measured has the machine to itself: npm test runs it afterwards.
    { name: "speed", testMatch: "speed.spec.ts" },
    { name: "screenshots", testMatch: "screenshots.ts" },
  ],
  use: {
    baseURL: address,
    viewport: { width: 1280, height: 800 },
    launchOptions: {
      executablePath: process.env["PLIMSOLL_CHROMIUM"] ?? "/usr/bin/chromium",
      args: [
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        // Hosts that the tests make up are not on this machine, and Chromium would keep them from framing one that is.
        "--disable-features=LocalNetworkAccessChecks,PrivateNetworkAccessChecks,BlockInsecurePrivateNetworkRequests",
        ...(asRoot ? ["--no-sandbox"] : []),
      ],
    },
  },
  webServer: {
    command: `npx vite preview --config web/vite.config.ts --base /some/where/ --host 127.0.0.1 --port ${port} --strictPort`,
    cwd: "../..",
    url: address,
    reuseExistingServer: false,
    timeout: 120_000,
  },
});
