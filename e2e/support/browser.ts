import { existsSync } from "node:fs";

import { chromium, type LaunchOptions } from "@playwright/test";
import { chromiumVariable, findSystemChromium } from "@relicario/tooling/chromium";

/**
 * The same for stories, with the vault's frames in the page's process: Chromium sends a click that
 * follows a change of layout at once to where another process's frame was before.
 */
export function createStoryLaunchOptions(): LaunchOptions {
  const options = createLaunchOptions();
  return { ...options, args: [...(options.args ?? []), "--disable-site-isolation-trials"] };
}

/**
 * Launch options of Chromium: quiet, and without a sandbox for root. `RELICARIO_CHROMIUM` names the
 * program; the test command sets it to the one that it found. Otherwise Playwright's own is used,
 * or the system's.
 */
export function createLaunchOptions(): LaunchOptions {
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
