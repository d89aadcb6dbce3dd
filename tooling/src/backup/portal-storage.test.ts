import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Client } from "pg";

import { startDatabaseServer } from "../database/embedded.ts";
import { openStorage, openRestoreTarget } from "./portal-storage.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "relicario-system-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function canConnect(url: string | null): Promise<boolean> {
  const client = new Client({ connectionString: url ?? "" });
  try {
    await client.connect();
    await client.query("select 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined); // was never open
  }
}

describe("openStorage", () => {
  it("uses a running database server and leaves the server running, or starts and stops its own; leaves out accounts of an external identity provider", async () => {
    const database = await startDatabaseServer({ folder: join(folder, "database") });
    await database.createDatabase("relicario");
    await database.createDatabase("relicario_identity");
    const runningStorage = await openStorage({ DATA_DIR: folder });
    expect(runningStorage).toMatchObject({ objectsUrl: join(folder, "objects"), keysPath: join(folder, "keys") });
    expect(runningStorage.databaseUrls).toEqual({
      service: database.getUrl("relicario"),
      identity: database.getUrl("relicario_identity"),
    });
    expect(
      (await openStorage({ DATA_DIR: folder, IDP_AUTHORITY: "https://id.example.org/realms/x" })).databaseUrls,
    ).toEqual({ service: database.getUrl("relicario"), identity: null });
    await runningStorage.close();
    expect(await canConnect(runningStorage.databaseUrls.service)).toBe(true);
    await database.stop();

    const stoppedStorage = await openStorage({ DATA_DIR: folder });
    expect([
      await canConnect(stoppedStorage.databaseUrls.service),
      await canConnect(stoppedStorage.databaseUrls.identity),
    ]).toEqual([true, true]);
    await stoppedStorage.close();
    expect(await canConnect(stoppedStorage.databaseUrls.service)).toBe(false);
  });

  it("uses the databases and objects that the environment names", async () => {
    const environment = {
      DATABASE_URL: "postgresql://one/a",
      IDENTITY_DATABASE_URL: "postgresql://one/b",
      OBJECTS_URL: "file:///somewhere/objects",
    };
    expect(await openStorage({ DATA_DIR: folder, ...environment })).toMatchObject({
      databaseUrls: { service: environment.DATABASE_URL, identity: environment.IDENTITY_DATABASE_URL },
      objectsUrl: environment.OBJECTS_URL,
    });
  });
});

describe("openRestoreTarget", () => {
  it("creates the databases of a new folder, and refuses the folder of a running portal", async () => {
    const target = await openRestoreTarget({ DATA_DIR: folder });
    expect([await canConnect(target.databaseUrls.service), await canConnect(target.databaseUrls.identity)]).toEqual([
      true,
      true,
    ]);
    await target.close();
    const lock = join(folder, "running.lock");
    await expect(stat(lock)).rejects.toThrow("ENOENT");
    const startTime =
      (await readFile(`/proc/${String(process.ppid)}/stat`, "utf8")).split(") ").at(-1)?.split(" ")[19] ?? "";
    await writeFile(lock, JSON.stringify({ pid: process.ppid, since: startTime }));
    await expect(openRestoreTarget({ DATA_DIR: folder })).rejects.toThrow(
      `A portal is running on ${folder} (process ${String(process.ppid)})`,
    );
  });
});
