import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { allowedSources, violationsByRule } from "./violations.ts";

const Report = z.object({
  diagnostics: z.array(z.object({ code: z.string(), filename: z.string(), message: z.string() })),
});
const Configuration = z.object({ overrides: z.array(z.object({ rules: z.record(z.string(), z.unknown()) })) });

const parseRuleName = (code: string): string => /(?:\(|\/|^)([^()/]+)\)?$/.exec(code)?.[1] ?? code;
const runOxlint = (folder: string, ...args: string[]): unknown =>
  JSON.parse(
    spawnSync(process.execPath, [join(rootFolder, "node_modules/oxlint/bin/oxlint"), ...args], {
      cwd: folder,
      encoding: "utf8",
    }).stdout,
  );

describe("the configuration of oxlint", () => {
  let folder: string;
  let diagnostics: z.infer<typeof Report>["diagnostics"];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "relicario-lint-"));
    const write = (file: string, source: string): void => {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), source);
    };
    symlinkSync(join(rootFolder, "node_modules"), join(folder, "node_modules"));
    write("oxlint.config.ts", `export { default } from ${JSON.stringify(join(rootFolder, "oxlint.config.ts"))};`);
    write(
      "tsconfig.json",
      JSON.stringify({
        extends: join(rootFolder, "tsconfig.base.json"),
        compilerOptions: { lib: ["ES2023", "DOM"], types: ["node"] },
        include: ["*/src"],
      }),
    );
    write("host/src/kinds.ts", 'export interface Kind { kind: "a" | "b" }');
    for (const [rule, source] of Object.entries(violationsByRule)) write(`host/src/${rule}.ts`, `${source}\n`);
    for (const [file, source] of allowedSources) write(file, `${source}\n`);
    diagnostics = Report.parse(runOxlint(folder, "--threads=1", "--format=json")).diagnostics;
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("has an example violation of each enabled rule", () => {
    const rules = Configuration.parse(runOxlint(rootFolder, "--print-config"))
      .overrides.flatMap((override) => Object.entries(override.rules))
      .filter(([, level]) => level !== "allow");
    expect(Object.keys(violationsByRule).toSorted()).toEqual(
      [...new Set(rules.map(([rule]) => parseRuleName(rule)))].toSorted(),
    );
  });

  it.each(Object.keys(violationsByRule))("refuses what %s forbids", (rule) => {
    expect(
      diagnostics.filter(({ filename }) => filename === `host/src/${rule}.ts`).map(({ code }) => parseRuleName(code)),
    ).toContain(rule);
  });

  it.each(allowedSources)("accepts the source of %s", (file) => {
    expect(diagnostics.filter(({ filename }) => filename === file)).toEqual([]);
  });
});
