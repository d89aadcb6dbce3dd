/**
 * `npm run backup <folder>`, `npm run restore <folder> [state]`, `npm run backup:check [folder]`:
 * docs/operations.md, "Backups". Environment: that of `npm start`, and `OBJECTS_URL`.
 */
import { resolve } from "node:path";

import { DatabaseUnavailableError } from "../database/programs.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { checkBackup, checkSystem } from "./check.ts";
import { makeBackup } from "./make.ts";
import type { Findings } from "./objects.ts";
import { restoreBackup } from "./restore.ts";
import { openStorage, openRestoreTarget, type PortalStorage } from "./portal-storage.ts";

/** npm runs scripts in the checkout; paths are meant from where the person is. */
const callerFolder = process.env["INIT_CWD"] ?? process.cwd();
const environment = { ...process.env, ...resolveFromCaller("DATA_DIR"), ...resolveFromCaller("OBJECTS_URL") };
const [commandName, folder, state] = process.argv.slice(2);

function resolveFromCaller(name: string): Readonly<Record<string, string>> {
  const path = process.env[name] ?? "";
  return path === "" || path.startsWith("file://") ? {} : { [name]: resolve(callerFolder, path) };
}

async function withStorage<T>(
  storage: Promise<PortalStorage>,
  callback: (storage: PortalStorage) => Promise<T>,
): Promise<T> {
  const openedStorage = await storage;
  try {
    return await callback(openedStorage);
  } finally {
    await openedStorage.close();
  }
}

const commands: Readonly<Record<string, () => Promise<boolean>>> = {
  make: () =>
    withStorage(openStorage(environment), async (storage) => {
      const { name, state: backupState, copied, damaged } = await makeBackup(storage, requireBackupFolder());
      for (const key of damaged) console.log(`damaged  ${key}`);
      const rows = [backupState.databases.service, backupState.databases.identity]
        .flatMap((database) => database?.tables ?? [])
        .reduce((sum, table) => sum + table.rows, 0);
      console.log(
        `State ${name}: ${String(rows)} rows, ${String(backupState.objects.count)} objects (${String(copied)} new${damaged.length > 0 ? `, ${String(damaged.length)} damaged` : ""}).`,
      );
      if (storage.databaseUrls.identity === null)
        console.log("The identity provider is your own: its accounts are not in here.");
      console.log(`Keys are not in here either: keep ${storage.keysPath} apart from it.`);
      return damaged.length === 0;
    }),
  restore: () =>
    withStorage(openRestoreTarget(environment), async (storage) => {
      const { name, damaged } = await restoreBackup(storage, requireBackupFolder(), state);
      for (const key of damaged) console.log(`damaged  ${key}`);
      console.log(
        `Restored ${name}${damaged.length > 0 ? `, but for ${String(damaged.length)} objects` : ""}. Put the keys of that time into ${storage.keysPath} before the first start.`,
      );
      return damaged.length === 0;
    }),
  check: async () =>
    printFindings(
      folder === undefined
        ? await withStorage(openStorage(environment), checkSystem)
        : await checkBackup(requireBackupFolder()),
    ),
};

function requireBackupFolder(): string {
  if (folder === undefined)
    throw new UserFacingError(
      "Say which folder: npm run backup <folder>, npm run restore <folder> [state], npm run backup:check [folder].",
    );
  return resolve(callerFolder, folder);
}

function printFindings({ checkedCount, missing, changed, unreferenced }: Findings): boolean {
  for (const key of missing) console.log(`missing    ${key}`);
  for (const key of changed) console.log(`changed    ${key}`);
  for (const key of unreferenced) console.log(`left over  ${key}`);
  console.log(
    `${String(checkedCount)} looked at: ${String(missing.length)} missing, ${String(changed.length)} changed, ${String(unreferenced.length)} left over.`,
  );
  return missing.length === 0 && changed.length === 0;
}

try {
  const runCommand = commands[commandName ?? ""];
  if (runCommand === undefined) throw new UserFacingError(`Say what to do: ${Object.keys(commands).join(", ")}.`);
  process.exitCode = (await runCommand()) ? 0 : 1;
} catch (error) {
  // A UserFacingError is written for the person; anything else is a fault of ours, shown whole.
  console.error(error instanceof UserFacingError || error instanceof DatabaseUnavailableError ? error.message : error);
  process.exitCode = 1;
}
