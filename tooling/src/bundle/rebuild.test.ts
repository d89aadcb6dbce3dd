import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { listFiles } from "../release/files.ts";
import { copySources, describeDifferences } from "./rebuild.ts";

describe("copySources", () => {
  it("copies what Git tracks or would add, and links to files and folders as links", async () => {
    const folder = mkdtempSync(join(tmpdir(), "copy-sources-"));
    try {
      const [source, copy] = [join(folder, "source"), join(folder, "copy")];
      mkdirSync(join(source, "shared"), { recursive: true });
      execFileSync("git", ["init", "--quiet"], { cwd: source });
      writeFileSync(join(source, ".gitignore"), "dist\n");
      writeFileSync(join(source, "dist"), "built");
      writeFileSync(join(source, "shared/a.txt"), "a");
      symlinkSync("shared", join(source, "folder-link"));
      symlinkSync("shared/a.txt", join(source, "file-link"));
      writeFileSync(join(source, "removed.txt"), "");
      execFileSync("git", ["add", "--all"], { cwd: source });
      rmSync(join(source, "removed.txt"));
      writeFileSync(join(source, "new.txt"), "not added yet");

      await copySources(source, copy);

      expect(readlinkSync(join(copy, "folder-link"))).toBe("shared");
      expect(readlinkSync(join(copy, "file-link"))).toBe("shared/a.txt");
      expect(readFileSync(join(copy, "folder-link/a.txt"), "utf8")).toBe("a");
      expect(listFiles(copy)).toEqual(expect.arrayContaining([".gitignore", "new.txt", "shared/a.txt"]));
      expect(listFiles(copy)).not.toEqual(expect.arrayContaining(["dist"]));
      expect(listFiles(copy)).not.toEqual(expect.arrayContaining(["removed.txt"]));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe("describeDifferences", () => {
  const expected = { "a.js": "sha384-a", "b.js": "sha384-b" };

  it("finds none between the same files in another order", () => {
    expect(describeDifferences(expected, { "b.js": "sha384-b", "a.js": "sha384-a" })).toEqual([]);
  });

  it("names each file that changed, is missing or was added", () => {
    expect(describeDifferences(expected, { "a.js": "sha384-x", "c.js": "sha384-c" })).toEqual([
      "a.js differs",
      "b.js was not built",
      "c.js is new",
    ]);
  });
});
