import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { run } from "./run.ts";

/** Names the browser of the end-to-end tests; also how they are told which one was found. */
export const chromiumVariable = "RELICARIO_CHROMIUM";

const places = [
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
export interface Machine {
  readonly named: string | undefined;
  readonly playwrights: () => string | null;
  readonly exists: (file: string) => boolean;
  readonly mayInstall: () => boolean;
  readonly install: () => Promise<boolean>;
}

export type Found = { readonly program: string; readonly how: string } | { readonly advice: string };

/**
 * A Chromium: the one that was named, Playwright's own, the system's, one that is installed now;
 * else what to do.
 */
export async function findChromium(machine: Machine = thisMachine): Promise<Found> {
  const { named, playwrights, exists, mayInstall, install } = machine;
  if (named !== undefined && named !== "") {
    return exists(named)
      ? { program: named, how: `named by ${chromiumVariable}` }
      : { advice: `${chromiumVariable} names ${named}, which is not there.` };
  }
  const own = playwrights();
  if (own !== null && exists(own)) return { program: own, how: "Playwright's own" };
  const systems = systemsChromium(exists);
  if (systems !== undefined) return { program: systems, how: "the system's" };
  if (mayInstall() && (await install())) {
    const installed = systemsChromium(exists);
    if (installed !== undefined) return { program: installed, how: "installed now" };
  }
  return {
    advice: `There is no Chromium for the end-to-end tests. Install one (Debian: apt-get install chromium; elsewhere: npx --yes pnpm@12.21.0 --filter @relicario/e2e exec playwright install chromium), or name one with ${chromiumVariable}.`,
  };
}

/** The browser that the system's packages put in one of the usual places. */
export function systemsChromium(exists: (file: string) => boolean = existsSync): string | undefined {
  return places.find(exists);
}

const thisMachine: Machine = {
  named: process.env[chromiumVariable],
  playwrights: () => {
    const ofE2e = createRequire(join(rootFolder, "e2e/package.json"));
    // The library is a function (its `test`) with the browsers as members.
    const Library = z.custom<{ readonly chromium: { readonly executablePath: () => string } }>(
      (value) => typeof value === "function" && "chromium" in value,
    );
    return Library.parse(ofE2e("@playwright/test")).chromium.executablePath();
  },
  exists: existsSync,
  mayInstall: () => process.getuid?.() === 0 && existsSync("/usr/bin/apt-get"),
  install: async () => {
    const environment = { DEBIAN_FRONTEND: "noninteractive" };
    console.log("  Installing Debian's chromium.");
    await run("apt-get", ["update", "-qq"], { environment });
    const { code, said } = await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium"], {
      environment,
    });
    if (code !== 0) console.error(said);
    return code === 0;
  },
};
