import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Client } from "pg";

import { startDatabase } from "../database/embedded.ts";
import { openSystem, openTarget } from "./system.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "relicario-system-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function answers(url: string | null): Promise<boolean> {
  const client = new Client({ connectionString: url ?? "" });
  try {
    await client.connect();
    await client.query("select 1");
    return true;
  } catch {
    return false; // that is the question
  } finally {
    await client.end().catch(() => undefined); // it never was open
  }
}

describe("openSystem", () => {
  it("uses the server that runs, without the accounts of a provider of one's own, and leaves it running; else starts it and stops it again", async () => {
    const database = await startDatabase({ folder: join(folder, "database") });
    await database.createDatabase("relicario");
    await database.createDatabase("relicario_identity");
    const beside = await openSystem({ DATA_DIR: folder });
    expect(beside).toMatchObject({ objects: join(folder, "objects"), keys: join(folder, "keys") });
    expect(beside.databaseUrls).toEqual({
      service: database.url("relicario"),
      identity: database.url("relicario_identity"),
    });
    expect(
      (await openSystem({ DATA_DIR: folder, IDP_AUTHORITY: "https://id.example.org/realms/x" })).databaseUrls,
    ).toEqual({ service: database.url("relicario"), identity: null });
    await beside.close();
    expect(await answers(beside.databaseUrls.service)).toBe(true);
    await database.stop();

    const alone = await openSystem({ DATA_DIR: folder });
    expect([await answers(alone.databaseUrls.service), await answers(alone.databaseUrls.identity)]).toEqual([
      true,
      true,
    ]);
    await alone.close();
    expect(await answers(alone.databaseUrls.service)).toBe(false);
  });

  it("takes databases and objects that are named", async () => {
    const named = {
      DATABASE_URL: "postgresql://one/a",
      IDENTITY_DATABASE_URL: "postgresql://one/b",
      OBJECTS_URL: "file:///somewhere/objects",
    };
    expect(await openSystem({ DATA_DIR: folder, ...named })).toMatchObject({
      databaseUrls: { service: named.DATABASE_URL, identity: named.IDENTITY_DATABASE_URL },
      objects: "/somewhere/objects",
    });
  });
});

describe("openTarget", () => {
  it("makes the databases of a new folder, and refuses one on which a portal runs", async () => {
    const target = await openTarget({ DATA_DIR: folder });
    expect([await answers(target.databaseUrls.service), await answers(target.databaseUrls.identity)]).toEqual([
      true,
      true,
    ]);
    await target.close();
    const lock = join(folder, "running.lock");
    await expect(stat(lock)).rejects.toThrow("ENOENT");
    const born =
      (await readFile(`/proc/${String(process.ppid)}/stat`, "utf8")).split(") ").at(-1)?.split(" ")[19] ?? "";
    await writeFile(lock, JSON.stringify({ pid: process.ppid, since: born }));
    await expect(openTarget({ DATA_DIR: folder })).rejects.toThrow(
      `A portal is running on ${folder} (process ${String(process.ppid)})`,
    );
  });
});
