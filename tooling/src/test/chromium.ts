import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { run } from "./run.ts";

/** Names the browser of the end-to-end tests; also how they are told which one was found. */
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

/** What this machine offers; replaced in tests. */
export interface HostMachine {
  readonly configuredPath: string | undefined;
  readonly playwrightPath: () => string | null;
  readonly exists: (file: string) => boolean;
  readonly canInstall: () => boolean;
  readonly install: () => Promise<boolean>;
}

export type ChromiumResult = { readonly program: string; readonly source: string } | { readonly advice: string };

/**
 * A Chromium: the one that was named, Playwright's own, the system's, one that is installed now;
 * else what to do.
 */
export async function findChromium(machine: HostMachine = thisMachine): Promise<ChromiumResult> {
  const { configuredPath, playwrightPath, exists, canInstall, install } = machine;
  if (configuredPath !== undefined && configuredPath !== "") {
    return exists(configuredPath)
      ? { program: configuredPath, source: `named by ${chromiumVariable}` }
      : { advice: `${chromiumVariable} names ${configuredPath}, which is not there.` };
  }
  const bundled = playwrightPath();
  if (bundled !== null && exists(bundled)) return { program: bundled, source: "Playwright's own" };
  const system = findSystemChromium(exists);
  if (system !== undefined) return { program: system, source: "the system's" };
  if (canInstall() && (await install())) {
    const installed = findSystemChromium(exists);
    if (installed !== undefined) return { program: installed, source: "installed now" };
  }
  return {
    advice: `There is no Chromium for the end-to-end tests. Install one (Debian: apt-get install chromium; elsewhere: npx --yes pnpm@12.21.0 --filter @relicario/e2e exec playwright install chromium), or name one with ${chromiumVariable}.`,
  };
}

/** The browser that the system's packages put in one of the usual places. */
export function findSystemChromium(exists: (file: string) => boolean = existsSync): string | undefined {
  return systemPaths.find(exists);
}

const thisMachine: HostMachine = {
  configuredPath: process.env[chromiumVariable],
  playwrightPath: () => {
    const requireFromE2e = createRequire(join(rootFolder, "e2e/package.json"));
    // The library is a function (its `test`) with the browsers as members.
    const Library = z.custom<{ readonly chromium: { readonly executablePath: () => string } }>(
      (value) => typeof value === "function" && "chromium" in value,
    );
    return Library.parse(requireFromE2e("@playwright/test")).chromium.executablePath();
  },
  exists: existsSync,
  canInstall: () => process.getuid?.() === 0 && existsSync("/usr/bin/apt-get"),
  install: async () => {
    const environment = { DEBIAN_FRONTEND: "noninteractive" };
    console.log("  Installing Debian's chromium.");
    await run("apt-get", ["update", "-qq"], { environment });
    const { code, output } = await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium"], {
      environment,
    });
    if (code !== 0) console.error(output);
    return code === 0;
  },
};
