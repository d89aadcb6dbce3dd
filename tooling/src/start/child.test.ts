import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createChild, type Child } from "./child.ts";

const serverScript = `
  import { createServer } from "node:http";
  const server = createServer((_request, response) => response.end(process.env.WORD));
  server.listen(Number(process.env.PORT), "127.0.0.1", () => {
    console.log('{"level":30,"msg":"starting"}');
    console.log(JSON.stringify({ ready: true, port: server.address().port }));
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

  const getLogFile = (): string => join(folder, "logs/x.log");
  const createTestChild = (script: string): Child => {
    writeFileSync(join(folder, "script.mjs"), script);
    child = createChild({
      name: "x",
      script: join(folder, "script.mjs"),
      buildEnvironment: (port) => ({ PORT: String(port), WORD: "hello" }),
      logFile: getLogFile(),
      onUnexpectedExit: (name, reason) => unexpectedExits.push(`${name}: ${reason}`),
    });
    return child;
  };
  const fetchWord = async (target: Child): Promise<string> =>
    (await fetch(`http://127.0.0.1:${String(target.getPort())}`)).text();

  it("starts, stops, and starts again on the same port", async () => {
    const testChild = createTestChild(serverScript);
    await testChild.start();
    const port = testChild.getPort();
    await expect(fetchWord(testChild)).resolves.toBe("hello");
    await testChild.stop();
    expect(testChild.isRunning()).toBe(false);
    expect(readFileSync(getLogFile(), "utf8")).toContain("goodbye");
    await testChild.start();
    expect(testChild.getPort()).toBe(port);
    await expect(fetchWord(testChild)).resolves.toBe("hello");
    expect(unexpectedExits).toEqual([]);
  });

  it("does not report an intended kill", async () => {
    const testChild = createTestChild(serverScript);
    await testChild.start();
    await testChild.kill();
    await expect(fetchWord(testChild)).rejects.toThrow();
    expect(unexpectedExits).toEqual([]);
  });

  it("reports an unexpected exit", async () => {
    const exitReason = new Promise<string>((resolve) => {
      writeFileSync(
        join(folder, "script.mjs"),
        `console.log(JSON.stringify({ ready: true, port: 1 })); setTimeout(() => process.exit(3), 10);`,
      );
      child = createChild({
        name: "x",
        script: join(folder, "script.mjs"),
        buildEnvironment: () => ({}),
        logFile: getLogFile(),
        onUnexpectedExit: (_name, reason) => resolve(reason),
      });
    });
    await child?.start();
    await expect(exitReason).resolves.toBe("exit code 3");
  });

  it("rejects start() with the last log line when the process exits before it is ready", async () => {
    const testChild = createTestChild(`console.error("first"); console.error("PORT is wrong"); process.exit(78);`);
    await expect(testChild.start()).rejects.toMatchObject({
      name: "UserFacingError",
      message: expect.stringContaining("x did not start: PORT is wrong"),
    });
    expect(testChild.isRunning()).toBe(false);
  });

  it("keeps the log of the previous run", async () => {
    const testChild = createTestChild(serverScript);
    await testChild.start();
    await testChild.stop();
    await testChild.start();
    expect(readFileSync(`${getLogFile()}.1`, "utf8")).toContain("goodbye");
  });
});
