import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Client } from "pg";

import { createDatabaseChild, type DatabaseChild } from "./database-child.ts";

let folder: string;
let child: DatabaseChild;
let deaths: string[];
let died: () => void;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "relicario-database-"));
  child = createDatabaseChild({
    folder,
    onDeath: (name, how) => {
      deaths.push(`${name}: ${how}`);
      died();
    },
  });
  await child.start();
});
beforeEach(() => {
  deaths = [];
  died = () => undefined;
});
afterAll(async () => {
  await child.stop();
  await rm(folder, { recursive: true, force: true });
});

const ask = async (text: string): Promise<unknown[]> => {
  const client = new Client({ connectionString: child.url("postgres") });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
};

const serverPid = async (): Promise<number> =>
  Number((await readFile(join(folder, "cluster/postmaster.pid"), "utf8")).split("\n")[0]);

/**
 * What a dead server leaves may be in its way for a moment: the start command tries again as well.
 */
const startUntilItDoes = async (): Promise<void> => {
  while (!child.running()) await child.start().catch(() => undefined);
};

describe("createDatabaseChild", () => {
  it("tells that the server was killed, and starts it again at the same address with what it kept", async () => {
    await ask("create table kept as select 7 as number");
    const address = child.url("postgres");
    const death = new Promise<void>((resolve) => {
      died = resolve;
    });
    process.kill(await serverPid(), "SIGKILL");
    await death;
    expect(deaths).toEqual(["database: SIGKILL"]);
    expect(child.running()).toBe(false);
    await startUntilItDoes();
    expect(child.url("postgres")).toBe(address);
    expect(await ask("select number from kept")).toEqual([{ number: 7 }]);
  });

  it("does not call it a death when it was asked to end, and starts again at the same port", async () => {
    const port = child.port();
    await child.stop();
    await Promise.all([child.start(), child.start()]); // by itself, and by somebody who is impatient
    expect(child.port()).toBe(port);
    expect(await ask("select 1 as one")).toEqual([{ one: 1 }]);
    expect(deaths).toEqual([]);
  });
});
