import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createChild, type Child } from "./child.ts";

const serverScript = `
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
  const unexpectedExits: string[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "child-"));
    unexpectedExits.length = 0;
  });
  afterEach(async () => {
    await child?.kill();
    child = null;
    rmSync(folder, { recursive: true, force: true });
  });

  const logFile = (): string => join(folder, "logs/x.log");
  const createTestChild = (script: string): Child => {
    writeFileSync(join(folder, "script.mjs"), script);
    child = createChild({
      name: "x",
      script: join(folder, "script.mjs"),
      environment: (port) => ({ PORT: String(port), WORD: "hello" }),
      logFile: logFile(),
      onUnexpectedExit: (name, reason) => unexpectedExits.push(`${name}: ${reason}`),
    });
    return child;
  };
  const fetchWord = async (target: Child): Promise<string> =>
    (await fetch(`http://127.0.0.1:${String(target.port())}`)).text();

  it("is started when it says so, stopped when asked, and started again on the same port", async () => {
    const testChild = createTestChild(serverScript);
    await testChild.start();
    const port = testChild.port();
    await expect(fetchWord(testChild)).resolves.toBe("hello");
    await testChild.stop();
    expect(testChild.isRunning()).toBe(false);
    expect(readFileSync(logFile(), "utf8")).toContain("goodbye");
    await testChild.start();
    expect(testChild.port()).toBe(port);
    await expect(fetchWord(testChild)).resolves.toBe("hello");
    expect(unexpectedExits).toEqual([]);
  });

  it("does not call it a death when it was killed on purpose", async () => {
    const testChild = createTestChild(serverScript);
    await testChild.start();
    await testChild.kill();
    await expect(fetchWord(testChild)).rejects.toThrow();
    expect(unexpectedExits).toEqual([]);
  });

  it("tells of a death that nobody asked for", async () => {
    const exit = new Promise<string>((resolve) => {
      writeFileSync(
        join(folder, "script.mjs"),
        `console.log(JSON.stringify({ ready: true, port: 1 })); setTimeout(() => process.exit(3), 10);`,
      );
      child = createChild({
        name: "x",
        script: join(folder, "script.mjs"),
        environment: () => ({}),
        logFile: logFile(),
        onUnexpectedExit: (_name, reason) => resolve(reason),
      });
    });
    await child?.start();
    await expect(exit).resolves.toBe("exit code 3");
  });

  it("gives its last words when it does not start", async () => {
    const testChild = createTestChild(`console.error("first"); console.error("PORT is wrong"); process.exit(78);`);
    await expect(testChild.start()).rejects.toMatchObject({
      name: "UserFacingError",
      message: expect.stringContaining("x did not start: PORT is wrong"),
    });
    expect(testChild.isRunning()).toBe(false);
  });

  it("keeps the log of the run before", async () => {
    const testChild = createTestChild(serverScript);
    await testChild.start();
    await testChild.stop();
    await testChild.start();
    expect(readFileSync(`${logFile()}.1`, "utf8")).toContain("goodbye");
  });
});
