import { existsSync } from "node:fs";
import { launch, type Browser } from "puppeteer-core";

/**
 * The two families that the engine is tried in. Playwright cannot drive Debian's Firefox; WebDriver
 * BiDi can.
 */
export type BrowserName = "Chromium" | "Firefox";

export interface LaunchOptions {
  /**
   * Origin of an HTTP proxy that all traffic goes through, that to loopback too:
   * `http://127.0.0.1:8080`.
   */
  readonly proxy?: string;
  /** Folder that takes what is saved, without a question. */
  readonly downloads?: string;
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
 * Starts a browser without a window; null when none is installed, or the one that
 * RELICARIO_CHROMIUM or RELICARIO_FIREFOX names is not there.
 */
export async function launchBrowser(name: BrowserName, options: LaunchOptions = {}): Promise<Browser | null> {
  const { environmentVariable, paths } = knownBrowsers[name];
  const configuredPath = process.env[environmentVariable] ?? "";
  const executablePath = (configuredPath === "" ? paths : [configuredPath]).find((path) => existsSync(path));
  if (executablePath === undefined) return null;
  const commonOptions = { executablePath, headless: true, protocolTimeout: 600_000 };
  if (name === "Firefox")
    return launch({ ...commonOptions, browser: "firefox", extraPrefsFirefox: firefoxPreferences(options) });
  const { proxy, downloads } = options;
  return launch({
    ...commonOptions,
    browser: "chrome",
    args: [
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), // Chromium's sandbox does not work for root
      ...(proxy === undefined ? [] : [`--proxy-server=${proxy}`, "--proxy-bypass-list=<-loopback>"]),
    ],
    ...(downloads === undefined ? {} : { downloadBehavior: { policy: "allow", downloadPath: downloads } as const }),
  });
}

function firefoxPreferences({ proxy, downloads }: LaunchOptions): Record<string, string | number | boolean> {
  const preferences: Record<string, string | number | boolean> = {};
  if (proxy !== undefined) {
    const { hostname, port } = new URL(proxy);
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
  if (downloads !== undefined) {
    Object.assign(preferences, {
      "browser.download.folderList": 2,
      "browser.download.dir": downloads,
      "browser.download.always_ask_before_handling_new_types": false,
    });
  }
  return preferences;
}
