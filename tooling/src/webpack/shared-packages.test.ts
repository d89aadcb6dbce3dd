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

/** Everything that runs in a page, less what only tests see. */
const pages = globSync(["host/src/**/*.{ts,tsx}", "remote-*/src/**/*.{ts,tsx}", "shared/src/**/*.{ts,tsx}"], { cwd: rootFolder })
  .filter((file) => !/\.test\.tsx?$|\/testing\//.test(file))
  .map((file) => readFileSync(join(rootFolder, file), "utf8"));

function offered(file: string): string[] {
  return namesIn(readFileSync(join(rootFolder, "host/src/singletons", file), "utf8"), /export \{([^}]*)\} from/g);
}

describe("the table of shared packages", () => {
  it("has the same names and ranges in the host and in the remotes", () => {
    const [provided, taken] = [providedByHost(), takenFromHost()];
    for (const [name, { requiredVersion }] of Object.entries(taken)) expect(provided[name]).toMatchObject({ singleton: true, eager: true, requiredVersion });
    for (const { import: brought } of Object.values(taken)) expect(brought).toBe(false);
  });

  it("puts only modules that exist in the place of packages", () => {
    const modules = Object.values(providedByHost()).flatMap(({ import: module }) => (typeof module === "string" ? [module] : []));
    expect(modules).toHaveLength(4);
    for (const module of modules) expect([module, existsSync(module)]).toEqual([module, true]);
  });

  it.each([
    ["react-router-dom", "router.ts", 10],
    ["react-i18next", "react-i18next.ts", 2],
  ])("offers every name that a page takes from %s", (name, file, least) => {
    const asked = new Set(pages.flatMap((text) => namesIn(text, new RegExp(`import \\{([^}]*)\\} from "${name}"`, "g"))));
    expect(asked.size).toBeGreaterThan(least);
    expect([...asked].filter((each) => !offered(file).includes(each))).toEqual([]);
  });

  it("offers every part of zod that a page uses", () => {
    const asked = new Set(pages.flatMap((text) => [...text.matchAll(/\bz\.([a-z]\w*)/g)].map(([, each = ""]) => each)));
    const types = ["infer", "input", "output"];
    expect(asked.size).toBeGreaterThan(10);
    expect([...asked].filter((each) => !types.includes(each) && !offered("zod-parts.ts").includes(each))).toEqual([]);
  });
});
