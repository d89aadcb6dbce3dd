import { existsSync } from "node:fs";
import { launch, type Browser } from "puppeteer-core";

/** The two families that the engine is tried in. Playwright cannot drive Debian's Firefox; WebDriver BiDi can. */
export type BrowserName = "Chromium" | "Firefox";

const known: Readonly<Record<BrowserName, { readonly variable: string; readonly places: readonly string[] }>> = {
  Chromium: {
    variable: "RELICARIO_CHROMIUM",
    places: ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"],
  },
  Firefox: { variable: "RELICARIO_FIREFOX", places: ["/usr/bin/firefox-esr", "/usr/bin/firefox", "/Applications/Firefox.app/Contents/MacOS/firefox"] },
};

/** Starts a browser without a window; null when none is installed, or the one that RELICARIO_CHROMIUM or RELICARIO_FIREFOX names is not there. */
export async function start(name: BrowserName): Promise<Browser | null> {
  const { variable, places } = known[name];
  const named = process.env[variable] ?? "";
  const executablePath = (named === "" ? places : [named]).find((path) => existsSync(path));
  if (executablePath === undefined) return null;
  const asRoot = process.getuid?.() === 0;
  return launch({
    browser: name === "Firefox" ? "firefox" : "chrome",
    executablePath,
    headless: true,
    // Chromium's sandbox does not work for root.
    args: name === "Chromium" && asRoot ? ["--no-sandbox"] : [],
    protocolTimeout: 600_000,
  });
}
