// The built site, served under a sub-path as GitHub Pages would, in the Chromium that is installed. Nothing is
// downloaded: PLIMSOLL_CHROMIUM names the browser where it is not /usr/bin/chromium.
import { defineConfig } from "@playwright/test";

const port = Number(process.env["PLIMSOLL_TEST_PORT"] ?? 4179);
const address = `http://127.0.0.1:${port}/some/where/`;
const asRoot = process.getuid?.() === 0;
/** Only what hangs takes so long: no test fails because a machine is slow or busy. What is fast is measured by ./dev bench --page. */
const HANG = 5 * 60_000;

const LAUNCH = {
  timeout: HANG,
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
};
/**
 * All pages of a context in one process, which compiles what they share once; and each test is too short for the second
 * compiler of WebAssembly to pay for itself.
 */
const SHORT = ["--process-per-site", "--js-flags=--wasm-tiering-budget=100000000"];

export default defineConfig({
  testDir: ".",
  outputDir: "../../test-results",
  fullyParallel: true,
  // ./dev test --whole: sweeps too, whose mistakes others would show as well, later.
  ...(process.env["PLIMSOLL_WHOLE"] ? {} : { grepInvert: /@whole/ }),
  workers: 2,
  // On a busy machine a test may look between two drawings. It is listed as flaky then, to be mended; a fault fails twice.
  retries: 1,
  forbidOnly: true,
  reporter: "list",
  timeout: 4 * HANG,
  expect: { timeout: HANG },
  // When the page itself is broken, each test would wait that long to say so.
  maxFailures: 8,
  projects: [
    {
      name: "page",
      testMatch: "*.spec.ts",
      use: { launchOptions: { ...LAUNCH, args: [...LAUNCH.args, ...SHORT] } },
    },
    { name: "bench", testMatch: "speed.bench.ts" },
    { name: "screenshots", testMatch: "screenshots.ts" },
  ],
  use: {
    baseURL: address,
    viewport: { width: 1280, height: 800 },
    // Storing the whole site costs as much as a small test; who tests that allows it.
    serviceWorkers: "block",
    launchOptions: LAUNCH,
  },
  webServer: {
    command: `npx vite preview --config web/vite.config.ts --base /some/where/ --host 127.0.0.1 --port ${port} --strictPort`,
    cwd: "../..",
    url: address,
    reuseExistingServer: false,
    timeout: HANG,
  },
});
