import { mkdir, readdir, readFile, rm, statfs } from "node:fs/promises";
import { join } from "node:path";

import { isProcessAlive } from "../process-alive.ts";
import { startDatabaseServer, type DatabaseServer } from "./embedded.ts";
import { testServerVariable } from "./test-database.ts";

declare global {
  var relicarioTestDatabase: { database: DatabaseServer; folder: string } | undefined;
}

/**
 * jest's globalSetup: one server for all tests, unless `DATABASE_URL` names one. jest-teardown.ts
 * stops it.
 */
export default async function startTestDatabase(): Promise<void> {
  if (process.env["DATABASE_URL"] !== undefined || globalThis.relicarioTestDatabase !== undefined) return;
  const databasesFolder = (await hasFreeSpace(sharedMemoryFolder))
    ? join(sharedMemoryFolder, "relicario-test-databases")
    : join(__dirname, "../../../.cache/test-databases");
  await mkdir(databasesFolder, { recursive: true });
  await removeOrphanedDatabases(databasesFolder);
  const folder = join(databasesFolder, String(process.pid));
  // Test data need not survive a power failure.
  const database = await startDatabaseServer({
    folder,
    parameters: { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: "200" },
  });
  globalThis.relicarioTestDatabase = { database, folder };
  process.env[testServerVariable] = database.getUrl("postgres");
}

/** A folder in memory: creating each test's database, some 300 files, takes a tenth of the time. */
const sharedMemoryFolder = "/dev/shm";

/** Whether a folder has 4 GiB free: containers often give /dev/shm 64 MB. */
async function hasFreeSpace(folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder).catch(() => ({ bavail: 0, bsize: 0 })); // other systems have none
  return bavail * bsize > 4 * 2 ** 30;
}

/** Deletes databases of killed runs. */
async function removeOrphanedDatabases(databasesFolder: string): Promise<void> {
  for (const name of await readdir(databasesFolder)) {
    const runnerPid = Number(name);
    if (!Number.isInteger(runnerPid) || isProcessAlive(runnerPid)) continue;
    const folder = join(databasesFolder, name);
    const pid = Number(
      (await readFile(join(folder, "cluster", "postmaster.pid"), "utf8").catch(() => "")).split("\n")[0],
    );
    const command = await readFile(`/proc/${String(pid)}/cmdline`, "utf8").catch(() => "");
    if (command.includes(folder)) process.kill(pid, "SIGQUIT"); // immediate shutdown, since its data is deleted next
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}
