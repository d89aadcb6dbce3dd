import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";
import { providedByHost, takenFromHost } from "./shared-packages.ts";

/** Names that an ES module exports, or that a file imports from a package, without types. */
function namesIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].flatMap(([, list = ""]) =>
    list
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "" && !name.startsWith("type "))
      .map((name) => name.replace(/ as .*$/, "")),
  );
}

describe("the table of shared packages", () => {
  it("has the same names and ranges in the host and in the remotes", () => {
    const [provided, taken] = [providedByHost(), takenFromHost()];
    for (const [name, { requiredVersion }] of Object.entries(taken)) expect(provided[name]).toMatchObject({ singleton: true, eager: true, requiredVersion });
    for (const { import: brought } of Object.values(taken)) expect(brought).toBe(false);
  });

  it("puts only modules that exist in the place of packages", () => {
    const modules = Object.values(providedByHost()).flatMap(({ import: module }) => (typeof module === "string" ? [module] : []));
    expect(modules).toHaveLength(2);
    for (const module of modules) expect([module, existsSync(module)]).toEqual([module, true]);
  });

  it("offers every name that a page takes from the router", () => {
    const offered = namesIn(readFileSync(join(rootFolder, "host/src/singletons/router.ts"), "utf8"), /export \{([^}]*)\} from/g);
    const files = globSync(["host/src/**/*.{ts,tsx}", "remote-*/src/**/*.{ts,tsx}", "shared/src/**/*.{ts,tsx}"], { cwd: rootFolder });
    const asked = new Set(files.flatMap((file) => namesIn(readFileSync(join(rootFolder, file), "utf8"), /import \{([^}]*)\} from "react-router-dom"/g)));
    expect(asked.size).toBeGreaterThan(10);
    expect([...asked].filter((name) => !offered.includes(name))).toEqual([]);
  });
});
