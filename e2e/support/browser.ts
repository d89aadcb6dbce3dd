import { existsSync } from "node:fs";

import { chromium, type LaunchOptions } from "@playwright/test";
import { chromiumVariable, findSystemChromium } from "@relicario/tooling/chromium";

/**
 * How Chromium is started: quiet, and without a sandbox where the user is root.
 * `RELICARIO_CHROMIUM` names the program, as the test command does for the one that it found;
 * without it Playwright's own is taken, else the system's.
 */
export function chromiumArguments(): LaunchOptions {
  const configuredPath = process.env[chromiumVariable];
  const bundledPath = chromium.executablePath();
  const executablePath =
    configuredPath !== undefined && configuredPath !== ""
      ? configuredPath
      : existsSync(bundledPath)
        ? bundledPath
        : findSystemChromium();
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
