import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createRemote } from "./create-remote.ts";

// e2e/specs/a-third-party-remote.spec.ts builds, runs and releases a created remote.
describe("createRemote", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "create-remote-"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(["Garden", "my-garden", "../garden", "1garden", "host"])("refuses the invalid name %s", async (name) => {
    await expect(createRemote(folder, name)).rejects.toThrow(`cannot be called "${name}"`);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("refuses a folder that has files", async () => {
    writeFileSync(join(folder, "notes.txt"), "mine");
    await expect(createRemote(folder, "garden")).rejects.toThrow("has files already");
    expect(readdirSync(folder)).toEqual(["notes.txt"]);
  });
});
