import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { tryLock } from "./lock.ts";

describe("tryLock", () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "lock-"));
    file = join(folder, "running.lock");
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it("can be taken again after its release", () => {
    const firstLock = tryLock(file);
    if (!("release" in firstLock)) throw new Error("not taken");
    firstLock.release();
    expect(existsSync(file)).toBe(false);
    expect(tryLock(file)).toHaveProperty("release");
  });

  it("names its holder while that process lives", () => {
    const startTime =
      spawnSync("cat", [`/proc/${String(process.ppid)}/stat`], { encoding: "utf8" })
        .stdout.split(") ")
        .at(-1)
        ?.split(" ")[19] ?? "";
    writeFileSync(file, JSON.stringify({ pid: process.ppid, since: startTime }));
    expect(tryLock(file)).toEqual({ heldBy: { pid: process.ppid, since: startTime } });
  });

  it("is free when its holder was killed", () => {
    const { pid } = spawnSync(process.execPath, ["--eval", ""]);
    writeFileSync(file, JSON.stringify({ pid, since: "1" }));
    expect(tryLock(file)).toHaveProperty("release");
  });

  it("is free when another process has the holder's pid", () => {
    writeFileSync(file, JSON.stringify({ pid: process.ppid, since: "1" }));
    expect(tryLock(file)).toHaveProperty("release");
  });

  it("is free when the file has no holder", () => {
    writeFileSync(file, "");
    expect(tryLock(file)).toHaveProperty("release");
  });
});
