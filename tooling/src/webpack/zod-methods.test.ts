import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";
import leaveOutMethods from "./in-place/called-methods.mjs";
import { calledMethods } from "./zod-methods.ts";

const schemas = readFileSync(join(createRequire(join(rootFolder, "host/package.json")).resolve("zod/package.json"), "../v4/classic/schemas.js"), "utf8");
const leftOutOf = (source: string) => leaveOutMethods.call({ getOptions: () => ({ called: calledMethods() }) }, source);

describe("zod in pages", () => {
  it("keeps the methods that somebody calls, and those of the library of forms", () => {
    const short = leftOutOf(schemas);
    for (const name of ["min", "max", "regex", "optional", "nullable", "refine", "safeParse", "safeParseAsync", "check"]) expect([name, short.includes(`    ${name}(`) || short.includes(`async ${name}(`)]).toEqual([name, true]);
  });

  it("leaves out what nobody calls", () => {
    const short = leftOutOf(schemas);
    for (const name of ["cidrv6", "ksuid", "exactPartial"]) expect([name, short.includes(`    ${name}(`)]).toEqual([name, false]);
    expect(short.length).toBeLessThan(0.85 * schemas.length);
  });

  it("ends the build when zod is written otherwise", () => {
    expect(() => leftOutOf("export const a = 1;\n")).toThrow("look different");
  });
});
