import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Client } from "pg";

import { startDatabaseServer, type DatabaseServer } from "./embedded.ts";

/** A 0700 folder, where only its owner can go. */
let folder: string;
const startedDatabases: DatabaseServer[] = [];

const start = async (): Promise<DatabaseServer> => {
  const database = await startDatabaseServer({ folder });
  startedDatabases.push(database);
  return database;
};

const runQuery = async (url: string, text: string): Promise<unknown[]> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "relicario-database-"));
});
afterEach(async () => {
  for (const database of startedDatabases.splice(0)) await database.stop();
  await rm(folder, { recursive: true, force: true });
});

describe("startDatabaseServer", () => {
  it("keeps what was written over a stop and a start", async () => {
    const first = await start();
    await first.createDatabase("relicario");
    await first.createDatabase("relicario");
    await runQuery(first.url("relicario"), "create table kept as select 7 as number");
    await first.stop();
    startedDatabases.pop();

    const second = await start();
    expect(await runQuery(second.url("relicario"), "select number from kept")).toEqual([{ number: 7 }]);
    expect(await runQuery(second.url("relicario"), "show fsync")).toEqual([{ fsync: "on" }]);
  });

  it("keeps its password readable by its owner alone and asks for it", async () => {
    const database = await start();
    expect((await stat(join(folder, "password"))).mode & 0o777).toBe(0o600);
    const password = await readFile(join(folder, "password"), "utf8");
    await expect(runQuery(database.url("postgres").replace(password, "guessed"), "select 1")).rejects.toThrow(
      /password/,
    );
  });

  it("says so in one line when another living process uses the folder", async () => {
    await start();
    await writeFile(join(folder, "starter.pid"), String(process.ppid));
    await expect(startDatabaseServer({ folder })).rejects.toThrow(/in use by process \d+.*set DATABASE_URL/);
  });

  it("starts when the pid file names a process that is something else", async () => {
    const first = await start();
    await first.stop();
    startedDatabases.pop();
    const unrelatedProcess = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    await once(unrelatedProcess, "spawn");
    try {
      await writeFile(join(folder, "cluster", "postmaster.pid"), `${String(unrelatedProcess.pid)}\n${folder}\n`);
      const second = await start();
      expect(await runQuery(second.url("postgres"), "select 1 as one")).toEqual([{ one: 1 }]);
    } finally {
      unrelatedProcess.kill();
    }
  });

  it("ends the server that a killed starter left behind", async () => {
    const script = `import { startDatabaseServer } from ${JSON.stringify(join(__dirname, "embedded.ts"))};
      await startDatabaseServer({ folder: ${JSON.stringify(folder)} }); process.stdout.write("ready");`;
    const starter = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(starter.stdout, "data");
    starter.kill("SIGKILL");
    await once(starter, "exit");

    const database = await start();
    expect(await runQuery(database.url("postgres"), "select 1 as one")).toEqual([{ one: 1 }]);
  });

  it("says what keeps it from starting while a killed one still has work under way", async () => {
    const killed = await start();
    const client = new Client({ connectionString: killed.url("postgres") });
    client.on("error", () => undefined); // it is killed below
    await client.connect();
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    const busy = client.query("do $$ begin loop perform 1; end loop; end $$").catch(() => undefined);
    await runQuery(killed.url("postgres"), "select 1");
    await killed.kill();
    try {
      await expect(start()).rejects.toThrow(/shared memory block .* still in use/);
    } finally {
      process.kill(rows[0]?.pid ?? 0, "SIGKILL");
      await busy;
    }
  });

  it("leaves nothing half made when its folder cannot be made", async () => {
    await writeFile(join(folder, "cluster"), "in the way");
    await expect(startDatabaseServer({ folder })).rejects.toThrow(/PostgreSQL cannot run here/);
  });
});
