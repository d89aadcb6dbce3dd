import { readFileSync } from "node:fs";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";

/**
 * The one table of packages that all five builds share at run time. The host brings each of them, once; a remote brings
 * none and refuses to start with a version that does not fit. A name that ends in `/` stands for everything below it.
 */
const names = [
  "react",
  "react/",
  "react-dom",
  "react-dom/",
  "react-router-dom",
  "@tanstack/react-query",
  "i18next",
  "react-i18next",
  "styled-components",
  "framer-motion",
  "@relicario/shared/",
] as const;

interface SharedPackage {
  readonly singleton: true;
  readonly requiredVersion: string;
  readonly eager?: boolean;
  readonly strictVersion?: boolean;
  readonly import?: false;
}

/** What the host shares: there before anything else runs. */
export function providedByHost(): Record<string, SharedPackage> {
  return table({ eager: true });
}

/** What a remote takes from the host. Without a fallback of its own, so that a second React can never appear. */
export function takenFromHost(): Record<string, SharedPackage> {
  return table({ import: false, strictVersion: true });
}

function table(more: Partial<SharedPackage>): Record<string, SharedPackage> {
  const versions = pinnedVersions();
  return Object.fromEntries(
    names.map((name) => {
      const packageName = name.endsWith("/") ? name.slice(0, -1) : name;
      const version = versions.get(packageName);
      // "catalog:" in a package.json says nothing to the federation plugin, so the range is given here.
      if (version === undefined) throw new TypeError(`no pinned version of ${packageName}`);
      return [name, { singleton: true, requiredVersion: `^${version}`, ...more }];
    }),
  );
}

/** Versions of the catalog, and of our own `shared`. */
function pinnedVersions(): ReadonlyMap<string, string> {
  const workspace = readFileSync(join(rootFolder, "pnpm-workspace.yaml"), "utf8");
  const versions = new Map<string, string>();
  for (const [, name, version] of workspace.matchAll(/^ {2}"?([@a-z0-9/_-]+)"?: (\d+\.\d+\.\d+\S*)$/gm)) {
    if (name !== undefined && version !== undefined) versions.set(name, version);
  }
  const shared: unknown = JSON.parse(readFileSync(join(rootFolder, "shared/package.json"), "utf8"));
  if (typeof shared === "object" && shared !== null && "version" in shared) versions.set("@relicario/shared", String(shared.version));
  return versions;
}
