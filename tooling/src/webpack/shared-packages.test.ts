import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

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

/** Imported by files of which a page takes other things: the build leaves them out of pages. */
const leftOut = /remote-recovery\/src\/vault\/seal\/(padding|sign)\.ts$/;

/** The files that a page is made of, found from where it begins: what a worker runs is not among them. */
function filesOfPage(from: string, found = new Set<string>()): Set<string> {
  if (found.has(from) || leftOut.test(from)) return found;
  found.add(from);
  const text = readFileSync(from, "utf8");
  for (const [, target = ""] of text.matchAll(/(?:^(?:import|export) (?!type )[^;]*? from |\bimport\(|^import )"(\.[^"]+\.tsx?)"/gm)) filesOfPage(join(dirname(from), target), found);
  return found;
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
    for (const [name, { requiredVersion }] of Object.entries(taken)) expect(provided[name]).toMatchObject({ singleton: true, eager: name !== "@relicario/shared/forms", requiredVersion });
    for (const { import: brought } of Object.values(taken)) expect(brought).toBe(false);
  });

  it("puts only modules that exist in the place of packages", () => {
    const modules = Object.values(providedByHost()).flatMap(({ import: module }) => (typeof module === "string" ? [module] : []));
    expect(modules).toHaveLength(7);
    for (const module of modules) expect([module, existsSync(module)]).toEqual([module, true]);
  });

  it.each([
    ["react-router-dom", "router.ts", 10],
    ["i18next", "i18next.ts", 0],
    ["react-i18next", "react-i18next.ts", 2],
    ["@tanstack/react-query", "react-query.ts", 6],
    ["styled-components", "styled-components.ts", 2],
  ])("offers every name that a page takes from %s", (name, file, least) => {
    const asked = new Set(pages.flatMap((text) => namesIn(text, new RegExp(`import (?:\\w+, )?\\{([^}]*)\\} from "${name}"`, "g"))));
    expect(asked.size).toBeGreaterThan(least);
    expect([...asked].filter((each) => !offered(file).includes(each))).toEqual([]);
  });

  it("offers every name of the API that a page takes", () => {
    const files = globSync(["host/src/index.ts", "remote-*/src/remote.tsx"], { cwd: rootFolder }).flatMap((file) => [...filesOfPage(join(rootFolder, file))]);
    expect(files.length).toBeGreaterThan(150);
    const asked = new Set(files.flatMap((file) => namesIn(readFileSync(file, "utf8"), /import \{([^}]*)\} from "@relicario\/shared\/api"/g)));
    expect(asked.size).toBeGreaterThan(15);
    const door = readFileSync(join(rootFolder, "shared/src/api/pages.ts"), "utf8");
    const limits = [...readFileSync(join(rootFolder, "shared/src/api/limits.ts"), "utf8").matchAll(/export const (\w+)/g)].map(([, name = ""]) => name);
    const given = [...namesIn(door, /export \{([^}]*)\} from/g), ...limits];
    expect([...asked].filter((each) => !given.includes(each))).toEqual([]);
  });

  it("offers every part of zod that a page uses", () => {
    const asked = new Set(pages.flatMap((text) => [...text.matchAll(/\bz\.([a-z]\w*)/g)].map(([, each = ""]) => each)));
    const types = ["infer", "input", "output"];
    const whole = readFileSync(join(rootFolder, "host/src/singletons/zod-parts.ts"), "utf8");
    const parts = new Map([...whole.matchAll(/^export const (\w+) = \{ (.*) \};$/gm)].map(([, part = "", given = ""]) => [part, given.split(", ").map((each) => each.replace(/:.*$/, ""))]));
    expect(parts.size).toBe(2);
    expect(asked.size).toBeGreaterThan(10);
    expect([...asked].filter((each) => !types.includes(each) && !offered("zod-parts.ts").includes(each) && !parts.has(each))).toEqual([]);
    for (const [part, given] of parts) {
      const askedOf = new Set(pages.flatMap((text) => [...text.matchAll(new RegExp(`\\bz\\.${part}\\.(\\w+)`, "g"))].map(([, each = ""]) => each)));
      expect([part, ...askedOf]).toEqual([part, ...given]);
    }
  });
});
