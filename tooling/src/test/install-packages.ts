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

/** Programs that tests need beside Chromium, by the package that brings them. */
const programs = {
  "firefox-esr": "/usr/bin/firefox-esr",
  "webkit2gtk-driver": "/usr/bin/WebKitWebDriver",
  xvfb: "/usr/bin/Xvfb",
  "dbus-daemon": "/usr/bin/dbus-run-session",
} as const;

/** Installs missing browsers where it can; otherwise the tests name them. */
export async function installBrowsers(names: readonly (keyof typeof programs)[]): Promise<void> {
  const missing = names.filter((name) => !existsSync(programs[name]));
  if (missing.length > 0 && canInstallPackages()) await installPackages(missing);
}
