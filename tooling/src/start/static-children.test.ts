import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Child } from "./child.ts";
import { createStaticChildren, type StaticChildren } from "./static-children.ts";

let folder: string;
let all: StaticChildren;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "static-"));
  const folders = ["secrets", "settings"].map((name) => {
    mkdirSync(join(folder, name, "r1"), { recursive: true });
    writeFileSync(join(folder, name, "r1/word.txt"), `of ${name}`);
    return [name, join(folder, name)] as const;
  });
  all = createStaticChildren(new Map(folders), { logFile: join(folder, "remotes.log"), onDeath: () => undefined });
});
afterEach(async () => {
  await all.process.stop();
  rmSync(folder, { recursive: true, force: true });
});

const named = (name: string): Child => {
  const found = all.each.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
};
const read = async (name: string, port = named(name).port()): Promise<string | null> =>
  fetch(`http://127.0.0.1:${String(port)}/r1/word.txt`).then(
    (answer) => answer.text(),
    () => null,
  );

describe("the static servers of one process", () => {
  it("serve a folder each, at an address of their own", async () => {
    await all.process.start();
    expect(await read("secrets")).toBe("of secrets");
    expect(await read("settings")).toBe("of settings");
    expect(named("secrets").port()).not.toBe(named("settings").port());
  });

  it("are stopped and started alone, at the same address", async () => {
    await all.process.start();
    const port = named("settings").port();
    await named("settings").kill();
    expect([named("settings").running(), await read("settings"), await read("secrets")]).toEqual([
      false,
      null,
      "of secrets",
    ]);
    await named("settings").start();
    expect([named("settings").running(), named("settings").port(), await read("settings")]).toEqual([
      true,
      port,
      "of settings",
    ]);
  });

  it("come back at their addresses when the process was killed, but for those that were stopped", async () => {
    await all.process.start();
    const ports = all.each.map((each) => each.port());
    await named("settings").stop();
    await all.process.kill();
    expect(all.each.map((each) => each.running())).toEqual([false, false]);
    await all.process.start();
    expect([await read("secrets"), await read("settings")]).toEqual(["of secrets", null]);
    await named("settings").start();
    expect(all.each.map((each) => each.port())).toEqual(ports);
  });

  it("are started by the start of one of them, when the process had ended", async () => {
    await all.process.start();
    await all.process.kill();
    await named("secrets").start();
    expect([await read("secrets"), await read("settings")]).toEqual(["of secrets", "of settings"]);
  });
});
