import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";

/** What zod, and the library of forms, call by themselves. */
const byOthers = ["check", "clone", "parse", "parseAsync", "safeParse", "safeParseAsync"];

/** Names of all methods that a file calls which makes schemas. More than zod's own: a name too many costs a few bytes, one too few a page. */
export function calledMethods(): string[] {
  const names = new Set(byOthers);
  for (const file of globSync(["host/src/**/*.{ts,tsx}", "remote-*/src/**/*.{ts,tsx}", "shared/src/**/*.{ts,tsx}"], { cwd: rootFolder })) {
    const text = readFileSync(join(rootFolder, file), "utf8");
    for (const [, name = ""] of text.matchAll(/(?<!\bz)\s*\.(\w+)\(/g)) names.add(name);
  }
  return [...names].toSorted();
}
