import { existsSync } from "node:fs";

import { run } from "./run.ts";

/** Whether this machine is one where Debian's packages can be installed. */
export function canInstallPackages(): boolean {
  return process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
}

/** Installs packages of Debian; false, with the output, when that fails. */
export async function installPackages(packages: readonly string[]): Promise<boolean> {
  const environment = { DEBIAN_FRONTEND: "noninteractive" };
  console.log(`  Installing Debian's ${packages.join(", ")}.`);
  await run("apt-get", ["update", "-qq"], { environment });
  const { code, output } = await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages], {
    environment,
  });
  if (code !== 0) console.error(output);
  return code === 0;
}

/** Programs that the attacks need beside Chromium, by the package that brings them. */
const attackPrograms = {
  "/usr/bin/firefox-esr": "firefox-esr",
  "/usr/bin/WebKitWebDriver": "webkit2gtk-driver",
  "/usr/bin/Xvfb": "xvfb",
  "/usr/bin/dbus-run-session": "dbus-daemon",
} as const;

/** Installs missing browsers for the attacks where it can; otherwise their tests name them. */
export async function installAttackBrowsers(): Promise<void> {
  const missing = Object.entries(attackPrograms).flatMap(([program, name]) => (existsSync(program) ? [] : [name]));
  if (missing.length > 0 && canInstallPackages()) await installPackages(missing);
}
