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
  "zod",
  "@relicario/shared/",
  "@relicario/shared/forms",
] as const;

/** What the host gives when a screen asks for it: in a script of its own, and not in the first download. */
const later: readonly string[] = ["@relicario/shared/forms"];

/**
 * What the host gives in place of a whole package: the same exports, less those that no page can use. Without this, all of a
 * shared package is in the first download, because nobody knows what a remote will ask for (docs/decisions/0050).
 */
const slimmed: Readonly<Record<string, string>> = {
  "react-router-dom": join(rootFolder, "host/src/singletons/router.ts"),
  i18next: join(rootFolder, "host/src/singletons/i18next.ts"),
  "react-i18next": join(rootFolder, "host/src/singletons/react-i18next.ts"),
  "@tanstack/react-query": join(rootFolder, "host/src/singletons/react-query.ts"),
  "styled-components": join(rootFolder, "host/src/singletons/styled-components.ts"),
  zod: join(rootFolder, "host/src/singletons/zod.ts"),
  "@relicario/shared/api": join(rootFolder, "shared/src/api/pages.ts"),
};

interface SharedPackage {
  readonly singleton: true;
  readonly requiredVersion: string;
  /** Of the package that a module of our own stands for. */
  readonly version?: string;
  readonly eager?: boolean;
  readonly strictVersion?: boolean;
  readonly import?: string | false;
}

/** What the host shares: there before anything else runs, but for what comes later. */
export function providedByHost(): Record<string, SharedPackage> {
  return Object.fromEntries(Object.entries(table({}, slimmed)).map(([name, shared]) => [name, { ...shared, eager: !later.includes(name) }]));
}

/** What a remote takes from the host. Without a fallback of its own, so that a second React can never appear. */
export function takenFromHost(): Record<string, SharedPackage> {
  return table({ import: false, strictVersion: true }, {});
}

function table(more: Partial<SharedPackage>, inPlaceOf: Readonly<Record<string, string>>): Record<string, SharedPackage> {
  const versions = pinnedVersions();
  return Object.fromEntries(
    [...names, ...Object.keys(inPlaceOf).filter((name) => !names.some((each) => each === name))].map((name) => {
      const version = versions.get(packageOf(name));
      // "catalog:" in a package.json says nothing to the federation plugin, so the range is given here.
      if (version === undefined) throw new TypeError(`no pinned version of ${packageOf(name)}`);
      const module = inPlaceOf[name];
      return [name, { singleton: true, requiredVersion: `^${version}`, ...more, ...(module === undefined ? {} : { import: module, version }) }];
    }),
  );
}

/** The package that a name is of: `react` for `react/`, `@relicario/shared` for `@relicario/shared/api`. */
function packageOf(name: string): string {
  return name.split("/", name.startsWith("@") ? 2 : 1).join("/");
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
