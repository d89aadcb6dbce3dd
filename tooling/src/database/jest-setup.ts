import { mkdir, readdir, readFile, rm, statfs } from "node:fs/promises";
import { join } from "node:path";

import { startDatabaseServer, type DatabaseServer } from "./embedded.ts";
import { testServerVariable } from "./test-database.ts";

declare global {
  var relicarioTestDatabase: { database: DatabaseServer; folder: string } | undefined;
}

/**
 * jest's globalSetup: one server for the whole run, unless `DATABASE_URL` names another. Ended by
 * jest-teardown.ts.
 */
export default async function startTestDatabase(): Promise<void> {
  if (process.env["DATABASE_URL"] !== undefined || globalThis.relicarioTestDatabase !== undefined) return;
  const databasesFolder = (await hasFreeSpace(sharedMemoryFolder))
    ? join(sharedMemoryFolder, "relicario-test-databases")
    : join(__dirname, "../../../.cache/test-databases");
  await mkdir(databasesFolder, { recursive: true });
  await removeOrphanedDatabases(databasesFolder);
  const folder = join(databasesFolder, String(process.pid));
  // What the tests write need not survive a loss of power.
  const database = await startDatabaseServer({
    folder,
    settings: { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: "200" },
  });
  globalThis.relicarioTestDatabase = { database, folder };
  process.env[testServerVariable] = database.url("postgres");
}

/**
 * Linux's folder in memory. A database of its own for each test, some three hundred files, is made
 * there in a tenth of the time.
 */
const sharedMemoryFolder = "/dev/shm";

/** Containers often have no more than 64 MB of it. */
async function hasFreeSpace(folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder).catch(() => ({ bavail: 0, bsize: 0 })); // other systems have none
  return bavail * bsize > 4 * 2 ** 30;
}

/** Servers of runs that were killed. */
async function removeOrphanedDatabases(databasesFolder: string): Promise<void> {
  for (const name of await readdir(databasesFolder)) {
    const runnerPid = Number(name);
    if (!Number.isInteger(runnerPid) || isAlive(runnerPid)) continue;
    const folder = join(databasesFolder, name);
    const pid = Number(
      (await readFile(join(folder, "cluster", "postmaster.pid"), "utf8").catch(() => "")).split("\n")[0],
    );
    const command = await readFile(`/proc/${String(pid)}/cmdline`, "utf8").catch(() => "");
    if (command.includes(folder)) process.kill(pid, "SIGQUIT"); // at once: its data go next
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // no such process
  }
}
