import { existsSync } from "node:fs";

import { canInstallPackages, installPackages } from "./install-packages.ts";

/** Debian's. */
const program = "/usr/bin/promtool";

/**
 * Installs Prometheus's checker of rules, unless it is here.
 *
 * @throws Error that names Debian's package when it cannot be installed
 */
export async function installPromtool(): Promise<string> {
  if (!existsSync(program) && !(canInstallPackages() && (await installPackages(["prometheus"]))))
    throw new Error("The alert rules need promtool: apt-get install prometheus.");
  return program;
}
