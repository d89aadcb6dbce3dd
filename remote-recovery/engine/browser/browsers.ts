import { existsSync } from "node:fs";
import { launch, type Browser } from "puppeteer-core";

/**
 * Browsers to test in. Debian's Firefox runs over WebDriver BiDi, because Playwright cannot control
 * it.
 */
export type BrowserName = "Chromium" | "Firefox";

export interface BrowserLaunchOptions {
  /** Origin of an HTTP proxy for all traffic, loopback included: `http://127.0.0.1:8080`. */
  readonly proxyOrigin?: string;
  /** Folder for downloads, saved without asking. */
  readonly downloadFolder?: string;
}

const knownBrowsers: Readonly<
  Record<BrowserName, { readonly environmentVariable: string; readonly paths: readonly string[] }>
> = {
  Chromium: {
    environmentVariable: "RELICARIO_CHROMIUM",
    paths: [
      "/usr/bin/chromium",
      "/usr/bin/chromium-browser",
      "/usr/bin/google-chrome",
      "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    ],
  },
  Firefox: {
    environmentVariable: "RELICARIO_FIREFOX",
    paths: ["/usr/bin/firefox-esr", "/usr/bin/firefox", "/Applications/Firefox.app/Contents/MacOS/firefox"],
  },
};

/**
 * Starts a headless browser. Null if none is installed, or if RELICARIO_CHROMIUM or
 * RELICARIO_FIREFOX names a missing file.
 */
export async function launchBrowser(name: BrowserName, options: BrowserLaunchOptions = {}): Promise<Browser | null> {
  const { environmentVariable, paths } = knownBrowsers[name];
  const configuredPath = process.env[environmentVariable] ?? "";
  const executablePath = (configuredPath === "" ? paths : [configuredPath]).find((path) => existsSync(path));
  if (executablePath === undefined) return null;
  const commonOptions = { executablePath, headless: true, protocolTimeout: 600_000 };
  if (name === "Firefox")
    return launch({ ...commonOptions, browser: "firefox", extraPrefsFirefox: firefoxPreferences(options) });
  const { proxyOrigin, downloadFolder } = options;
  return launch({
    ...commonOptions,
    browser: "chrome",
    args: [
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), // Chromium's sandbox does not work for root
      ...(proxyOrigin === undefined ? [] : [`--proxy-server=${proxyOrigin}`, "--proxy-bypass-list=<-loopback>"]),
    ],
    ...(downloadFolder === undefined
      ? {}
      : { downloadBehavior: { policy: "allow", downloadPath: downloadFolder } as const }),
  });
}

function firefoxPreferences({
  proxyOrigin,
  downloadFolder,
}: BrowserLaunchOptions): Record<string, string | number | boolean> {
  const preferences: Record<string, string | number | boolean> = {};
  if (proxyOrigin !== undefined) {
    const { hostname, port } = new URL(proxyOrigin);
    Object.assign(preferences, {
      "network.proxy.type": 1,
      "network.proxy.no_proxies_on": "",
      "network.proxy.allow_hijacking_localhost": true,
    });
    for (const scheme of ["http", "ssl"])
      Object.assign(preferences, {
        [`network.proxy.${scheme}`]: hostname,
        [`network.proxy.${scheme}_port`]: Number(port),
      });
  }
  if (downloadFolder !== undefined) {
    Object.assign(preferences, {
      "browser.download.folderList": 2,
      "browser.download.dir": downloadFolder,
      "browser.download.always_ask_before_handling_new_types": false,
    });
  }
  return preferences;
}
