import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { canInstallPackages, installPackages } from "./install-packages.ts";

/**
 * Environment variable with the path of Chromium. `runPlaywright` sets the variable for the
 * end-to-end tests.
 */
export const chromiumVariable = "RELICARIO_CHROMIUM";

const systemPaths = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/snap/bin/chromium",
  "/opt/google/chrome/chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];

/** Access to this machine; replaced in tests. */
export interface LocalMachine {
  readonly configuredPath: string | undefined;
  readonly playwrightPath: () => string | null;
  readonly exists: (file: string) => boolean;
  readonly canInstall: () => boolean;
  readonly install: () => Promise<boolean>;
}

export type ChromiumResult = { readonly program: string; readonly source: string } | { readonly advice: string };

/**
 * Finds the configured Chromium, Playwright's, or the system's, in this order. Otherwise installs
 * Debian's, or returns advice.
 */
export async function findChromium(machine: LocalMachine = thisMachine): Promise<ChromiumResult> {
  const { configuredPath, playwrightPath, exists, canInstall, install } = machine;
  if (configuredPath !== undefined && configuredPath !== "") {
    return exists(configuredPath)
      ? { program: configuredPath, source: `named by ${chromiumVariable}` }
      : { advice: `${chromiumVariable} names ${configuredPath}, which is not there.` };
  }
  const bundledPath = playwrightPath();
  if (bundledPath !== null && exists(bundledPath)) return { program: bundledPath, source: "Playwright's own" };
  const systemPath = findSystemChromium(exists);
  if (systemPath !== undefined) return { program: systemPath, source: "the system's" };
  if (canInstall() && (await install())) {
    const installedPath = findSystemChromium(exists);
    if (installedPath !== undefined) return { program: installedPath, source: "installed now" };
  }
  return {
    advice: `There is no Chromium for the end-to-end tests. Install one (Debian: apt-get install chromium; elsewhere: npx --yes pnpm@12.21.0 --filter @relicario/e2e exec playwright install chromium), or name one with ${chromiumVariable}.`,
  };
}

export function findSystemChromium(exists: (file: string) => boolean = existsSync): string | undefined {
  return systemPaths.find(exists);
}

const thisMachine: LocalMachine = {
  configuredPath: process.env[chromiumVariable],
  playwrightPath: () => {
    const requireFromE2e = createRequire(join(rootFolder, "e2e/package.json"));
    // @playwright/test exports its `test` function, which has the browser types as properties
    const Library = z.custom<{ readonly chromium: { readonly executablePath: () => string } }>(
      (value) => typeof value === "function" && "chromium" in value,
    );
    return Library.parse(requireFromE2e("@playwright/test")).chromium.executablePath();
  },
  exists: existsSync,
  canInstall: canInstallPackages,
  install: () => installPackages(["chromium"]),
};
