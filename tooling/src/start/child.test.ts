import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createChild, type Child } from "./child.ts";

const server = `
  import { createServer } from "node:http";
  const app = createServer((_q, a) => a.end(process.env.WORD)).listen(Number(process.env.PORT), "127.0.0.1", () => {
    console.log('{"level":30,"msg":"starting"}');
    console.log(JSON.stringify({ ready: true, port: app.address().port }));
  });
  process.on("SIGTERM", () => { console.log("goodbye"); process.exit(0); });
`;

describe("createChild", () => {
  let folder: string;
  let child: Child | null = null;
  const deaths: string[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "child-"));
    deaths.length = 0;
  });
  afterEach(async () => {
    await child?.kill();
    child = null;
    rmSync(folder, { recursive: true, force: true });
  });

  const logFile = (): string => join(folder, "logs/x.log");
  const childOf = (script: string): Child => {
    writeFileSync(join(folder, "script.mjs"), script);
    child = createChild({
      name: "x",
      script: join(folder, "script.mjs"),
      environment: (port) => ({ PORT: String(port), WORD: "hello" }),
      logFile: logFile(),
      onDeath: (name, how) => deaths.push(`${name}: ${how}`),
    });
    return child;
  };
  const ask = async (of: Child): Promise<string> => (await fetch(`http://127.0.0.1:${String(of.port())}`)).text();

  it("is started when it says so, stopped when asked, and started again on the same port", async () => {
    const it = childOf(server);
    await it.start();
    const port = it.port();
    await expect(ask(it)).resolves.toBe("hello");
    await it.stop();
    expect(it.running()).toBe(false);
    expect(readFileSync(logFile(), "utf8")).toContain("goodbye");
    await it.start();
    expect(it.port()).toBe(port);
    await expect(ask(it)).resolves.toBe("hello");
    expect(deaths).toEqual([]);
  });

  it("does not call it a death when it was killed on purpose", async () => {
    const it = childOf(server);
    await it.start();
    await it.kill();
    await expect(ask(it)).rejects.toThrow();
    expect(deaths).toEqual([]);
  });

  it("tells of a death that nobody asked for", async () => {
    const died = new Promise<string>((resolve) => {
      writeFileSync(
        join(folder, "script.mjs"),
        `console.log(JSON.stringify({ ready: true, port: 1 })); setTimeout(() => process.exit(3), 10);`,
      );
      child = createChild({
        name: "x",
        script: join(folder, "script.mjs"),
        environment: () => ({}),
        logFile: logFile(),
        onDeath: (_name, how) => resolve(how),
      });
    });
    await child?.start();
    await expect(died).resolves.toBe("exit code 3");
  });

  it("gives its last words when it does not start", async () => {
    const it = childOf(`console.error("first"); console.error("PORT is wrong"); process.exit(78);`);
    await expect(it.start()).rejects.toMatchObject({
      name: "Complaint",
      message: expect.stringContaining("x did not start: PORT is wrong"),
    });
    expect(it.running()).toBe(false);
  });

  it("keeps the log of the run before", async () => {
    const it = childOf(server);
    await it.start();
    await it.stop();
    await it.start();
    expect(readFileSync(`${logFile()}.1`, "utf8")).toContain("goodbye");
  });
});
