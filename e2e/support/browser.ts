import { existsSync } from "node:fs";

import { chromium, type LaunchOptions } from "@playwright/test";
import { chromiumVariable, systemsChromium } from "@relicario/tooling/chromium";

/**
 * How Chromium is started: quiet, and without a sandbox where the user is root.
 * `RELICARIO_CHROMIUM` names the program, as the test command does for the one that it found;
 * without it Playwright's own is taken, else the system's.
 */
export function chromiumArguments(): LaunchOptions {
  const named = process.env[chromiumVariable];
  const own = chromium.executablePath();
  const executablePath = named !== undefined && named !== "" ? named : existsSync(own) ? own : systemsChromium();
  return {
    ...(executablePath === undefined ? {} : { executablePath }),
    args: [
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  };
}
