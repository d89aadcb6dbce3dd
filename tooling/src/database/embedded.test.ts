import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Client } from "pg";

import { startDatabaseServer, type DatabaseServer } from "./embedded.ts";

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
  it("keeps data over a restart", async () => {
    const firstServer = await start();
    await firstServer.createDatabase("relicario");
    await firstServer.createDatabase("relicario");
    await runQuery(firstServer.getUrl("relicario"), "create table kept as select 7 as number");
    await firstServer.stop();
    startedDatabases.pop();

    const secondServer = await start();
    expect(await runQuery(secondServer.getUrl("relicario"), "select number from kept")).toEqual([{ number: 7 }]);
    expect(await runQuery(secondServer.getUrl("relicario"), "show fsync")).toEqual([{ fsync: "on" }]);
  });

  it("stores its password for its owner only, and requires it", async () => {
    const database = await start();
    expect((await stat(join(folder, "password"))).mode & 0o777).toBe(0o600);
    const password = await readFile(join(folder, "password"), "utf8");
    await expect(runQuery(database.getUrl("postgres").replace(password, "guessed"), "select 1")).rejects.toThrow(
      /password/,
    );
  });

  it("fails with one line when another process uses the folder", async () => {
    await start();
    await writeFile(join(folder, "starter.pid"), String(process.ppid));
    await expect(startDatabaseServer({ folder })).rejects.toThrow(/in use by process \d+.*set DATABASE_URL/);
  });

  it("starts when the pid file names an unrelated process", async () => {
    const firstServer = await start();
    await firstServer.stop();
    startedDatabases.pop();
    const unrelatedProcess = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    await once(unrelatedProcess, "spawn");
    try {
      await writeFile(join(folder, "cluster", "postmaster.pid"), `${String(unrelatedProcess.pid)}\n${folder}\n`);
      const secondServer = await start();
      expect(await runQuery(secondServer.getUrl("postgres"), "select 1 as one")).toEqual([{ one: 1 }]);
    } finally {
      unrelatedProcess.kill();
    }
  });

  it("stops the server that a killed starter left running", async () => {
    const script = `import { startDatabaseServer } from ${JSON.stringify(join(__dirname, "embedded.ts"))};
      await startDatabaseServer({ folder: ${JSON.stringify(folder)} }); process.stdout.write("ready");`;
    const starter = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(starter.stdout, "data");
    starter.kill("SIGKILL");
    await once(starter, "exit");

    const database = await start();
    expect(await runQuery(database.getUrl("postgres"), "select 1 as one")).toEqual([{ one: 1 }]);
  });

  it("reports why it cannot start while a backend of a killed server still runs", async () => {
    const killedServer = await start();
    const client = new Client({ connectionString: killedServer.getUrl("postgres") });
    client.on("error", () => undefined); // it is killed below
    await client.connect();
    const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    const busyQuery = client.query("do $$ begin loop perform 1; end loop; end $$").catch(() => undefined);
    const pid = rows[0]?.pid ?? 0;
    const busyBackend = `select 1 from pg_stat_activity where pid = ${String(pid)} and state = 'active'`;
    while ((await runQuery(killedServer.getUrl("postgres"), busyBackend)).length === 0);
    await killedServer.kill();
    try {
      await expect(start()).rejects.toThrow(/shared memory block .* still in use/);
    } finally {
      process.kill(pid, "SIGKILL");
      await busyQuery;
    }
  });

  it("reports that its data folder cannot be created", async () => {
    await writeFile(join(folder, "cluster"), "in the way");
    await expect(startDatabaseServer({ folder })).rejects.toThrow(/PostgreSQL cannot run here/);
  });
});
