import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { appendToAuditLog, readAuditLog } from "./audit-log.ts";

const now = new Date("2026-11-21T12:00:00.000Z");

describe("the audit log", () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "audit-"));
    file = join(folder, "audit.jsonl");
    for (const reason of ["first", "second", "third"])
      appendToAuditLog(file, { action: "renew", by: "Ana", vendor: "relicario", sequence: 7, reason }, now);
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const editLog = (change: (lines: string[]) => string[]): void => {
    writeFileSync(file, `${change(readFileSync(file, "utf8").trimEnd().split("\n")).join("\n")}\n`);
  };

  it("returns the entries in order", () => {
    expect(readAuditLog(file).map(({ reason }) => reason)).toEqual(["first", "second", "third"]);
    expect(readAuditLog(join(folder, "none.jsonl"))).toEqual([]);
  });

  it.each<[string, (lines: string[]) => string[], number]>([
    ["a word changed", (lines) => lines.map((line) => line.replace("second", "another")), 3],
    ["a line was removed", ([firstLine = "", , thirdLine = ""]) => [firstLine, thirdLine], 2],
    ["the first line was removed", (lines) => lines.slice(1), 1],
    ["a line was inserted", ([firstLine = "", ...otherLines]) => [firstLine, firstLine, ...otherLines], 2],
    [
      "two lines were swapped",
      ([firstLine = "", secondLine = "", thirdLine = ""]) => [firstLine, thirdLine, secondLine],
      2,
    ],
    ["a line is not an entry", ([firstLine = "", ...otherLines]) => [firstLine, "{}", ...otherLines], 2],
  ])("names the line when %s", (_case, change, line) => {
    editLog(change);
    expect(() => readAuditLog(file)).toThrow(`line ${String(line)}, or the one before it, was changed`);
    expect(() => {
      appendToAuditLog(file, { action: "renew", by: "Ana" }, now);
    }).toThrow(`line ${String(line)}`);
  });
});
