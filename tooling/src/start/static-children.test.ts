import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Child } from "./child.ts";
import { createStaticChildren, type StaticChildren } from "./static-children.ts";

let folder: string;
let children: StaticChildren;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "static-"));
  const folders = ["secrets", "settings"].map((name) => {
    mkdirSync(join(folder, name, "r1"), { recursive: true });
    writeFileSync(join(folder, name, "r1/word.txt"), `of ${name}`);
    return [name, join(folder, name)] as const;
  });
  children = createStaticChildren(new Map(folders), {
    logFile: join(folder, "remotes.log"),
    onUnexpectedExit: () => undefined,
  });
});
afterEach(async () => {
  await children.process.stop();
  rmSync(folder, { recursive: true, force: true });
});

const requireServer = (name: string): Child => {
  const server = children.servers.find((server) => server.name === name);
  if (server === undefined) throw new Error(`no ${name}`);
  return server;
};
const fetchWord = async (name: string, port = requireServer(name).getPort()): Promise<string | null> =>
  fetch(`http://127.0.0.1:${String(port)}/r1/word.txt`).then(
    (response) => response.text(),
    () => null,
  );

describe("the static servers of one process", () => {
  it("serve one folder each, on their own port", async () => {
    await children.process.start();
    expect(await fetchWord("secrets")).toBe("of secrets");
    expect(await fetchWord("settings")).toBe("of settings");
    expect(requireServer("secrets").getPort()).not.toBe(requireServer("settings").getPort());
  });

  it("stop and start one by one, on the same port", async () => {
    await children.process.start();
    const port = requireServer("settings").getPort();
    await requireServer("settings").kill();
    expect([requireServer("settings").isRunning(), await fetchWord("settings"), await fetchWord("secrets")]).toEqual([
      false,
      null,
      "of secrets",
    ]);
    await requireServer("settings").start();
    expect([
      requireServer("settings").isRunning(),
      requireServer("settings").getPort(),
      await fetchWord("settings"),
    ]).toEqual([true, port, "of settings"]);
  });

  it("come back on their ports after the process is killed, except stopped servers", async () => {
    await children.process.start();
    const ports = children.servers.map((server) => server.getPort());
    await requireServer("settings").stop();
    await children.process.kill();
    expect(children.servers.map((server) => server.isRunning())).toEqual([false, false]);
    await children.process.start();
    expect([await fetchWord("secrets"), await fetchWord("settings")]).toEqual(["of secrets", null]);
    await requireServer("settings").start();
    expect(children.servers.map((server) => server.getPort())).toEqual(ports);
  });

  it("all start when one server is started after the process has ended", async () => {
    await children.process.start();
    await children.process.kill();
    await requireServer("secrets").start();
    expect([await fetchWord("secrets"), await fetchWord("settings")]).toEqual(["of secrets", "of settings"]);
  });
});
