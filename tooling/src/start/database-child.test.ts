import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Client } from "pg";

import { createDatabaseChild, type DatabaseChild } from "./database-child.ts";

let folder: string;
let child: DatabaseChild;
let unexpectedExits: string[];
let onExit: () => void;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "relicario-database-"));
  child = createDatabaseChild({
    folder,
    onUnexpectedExit: (name, reason) => {
      unexpectedExits.push(`${name}: ${reason}`);
      onExit();
    },
  });
  await child.start();
});
beforeEach(() => {
  unexpectedExits = [];
  onExit = () => undefined;
});
afterAll(async () => {
  await child.stop();
  await rm(folder, { recursive: true, force: true });
});

const runQuery = async (text: string): Promise<unknown[]> => {
  const client = new Client({ connectionString: child.getUrl("postgres") });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
};

const readServerPid = async (): Promise<number> =>
  Number((await readFile(join(folder, "cluster/postmaster.pid"), "utf8")).split("\n")[0]);

/**
 * Retries, as the start command does: what a killed server leaves may block a start for a moment.
 */
const startWithRetry = async (): Promise<void> => {
  while (!child.isRunning()) await child.start().catch(() => undefined);
};

describe("createDatabaseChild", () => {
  it("reports a killed server, and restarts it at the same address with its data", async () => {
    await runQuery("create table kept as select 7 as number");
    const address = child.getUrl("postgres");
    const death = new Promise<void>((resolve) => {
      onExit = resolve;
    });
    process.kill(await readServerPid(), "SIGKILL");
    await death;
    expect(unexpectedExits).toEqual(["database: SIGKILL"]);
    expect(child.isRunning()).toBe(false);
    await startWithRetry();
    expect(child.getUrl("postgres")).toBe(address);
    expect(await runQuery("select number from kept")).toEqual([{ number: 7 }]);
  });

  it("does not report an intended stop, and restarts on the same port", async () => {
    const port = child.getPort();
    await child.stop();
    await Promise.all([child.start(), child.start()]); // by the supervisor and by the operator
    expect(child.getPort()).toBe(port);
    expect(await runQuery("select 1 as one")).toEqual([{ one: 1 }]);
    expect(unexpectedExits).toEqual([]);
  });
});
