import type { LaunchOptions } from "@playwright/test";

/**
 * How Chromium is started: the one that the test command found, quiet, and without a sandbox where the user is root.
 * `RELICARIO_CHROMIUM` names the program; without it Playwright's own is used.
 */
export function chromiumArguments(): LaunchOptions {
  const executablePath = process.env["RELICARIO_CHROMIUM"];
  return {
    ...(executablePath === undefined || executablePath === "" ? {} : { executablePath }),
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
