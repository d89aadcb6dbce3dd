/**
 * `npm run backup <folder>`, `npm run restore <folder> [state]`, `npm run backup:check [folder]`:
 * see docs/operations.md, "Backups". Environment: as for `npm start`, and `OBJECTS_URL`.
 */
import { resolve } from "node:path";

import { DatabaseUnavailableError } from "../database/programs.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { checkBackup, checkSystem } from "./check.ts";
import { makeBackup } from "./make.ts";
import type { Findings } from "./objects.ts";
import { restoreBackup } from "./restore.ts";
import { openStorage, openRestoreTarget, type PortalStorage } from "./portal-storage.ts";

/** Paths are relative to the caller's folder; npm runs scripts in the checkout. */
const callerFolder = process.env["INIT_CWD"] ?? process.cwd();
const environment = { ...process.env, ...resolveFromCaller("DATA_DIR"), ...resolveFromCaller("OBJECTS_URL") };
const [commandName, folder, requestedState] = process.argv.slice(2);

function resolveFromCaller(name: string): Readonly<Record<string, string>> {
  const path = process.env[name] ?? "";
  return path === "" || /^(file|s3):\/\//.test(path) ? {} : { [name]: resolve(callerFolder, path) };
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
      const { name, state: backupState, copiedCount, damagedKeys } = await makeBackup(storage, requireBackupFolder());
      for (const key of damagedKeys) console.log(`damaged  ${key}`);
      const rows = [backupState.databases.service, backupState.databases.identity]
        .flatMap((database) => database?.tables ?? [])
        .reduce((sum, table) => sum + table.rows, 0);
      console.log(
        `State ${name}: ${String(rows)} rows, ${String(backupState.objects.count)} objects (${String(copiedCount)} new${damagedKeys.length > 0 ? `, ${String(damagedKeys.length)} damaged` : ""}).`,
      );
      if (storage.databaseUrls.identity === null)
        console.log("Accounts of your own identity provider are not included.");
      console.log(`Keys are not included: keep ${storage.keysPath} apart from the backup.`);
      return damagedKeys.length === 0;
    }),
  restore: () =>
    withStorage(openRestoreTarget(environment), async (storage) => {
      const { name, damagedKeys } = await restoreBackup(storage, requireBackupFolder(), requestedState);
      for (const key of damagedKeys) console.log(`damaged  ${key}`);
      console.log(
        `Restored ${name}${damagedKeys.length > 0 ? `, except ${String(damagedKeys.length)} objects` : ""}. Put the keys of that time into ${storage.keysPath} before the next start.`,
      );
      return damagedKeys.length === 0;
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
      "Name a folder: npm run backup <folder>, npm run restore <folder> [state], npm run backup:check [folder].",
    );
  return resolve(callerFolder, folder);
}

function printFindings({ checkedCount, missing, changed, unreferenced }: Findings): boolean {
  for (const key of missing) console.log(`missing    ${key}`);
  for (const key of changed) console.log(`changed    ${key}`);
  for (const key of unreferenced) console.log(`left over  ${key}`);
  console.log(
    `${String(checkedCount)} checked: ${String(missing.length)} missing, ${String(changed.length)} changed, ${String(unreferenced.length)} left over.`,
  );
  return missing.length === 0 && changed.length === 0;
}

try {
  const runCommand = commands[commandName ?? ""];
  if (runCommand === undefined) throw new UserFacingError(`Name what to do: ${Object.keys(commands).join(", ")}.`);
  process.exitCode = (await runCommand()) ? 0 : 1;
} catch (error) {
  // A UserFacingError is for the operator; anything else is a bug, shown with its stack.
  console.error(error instanceof UserFacingError || error instanceof DatabaseUnavailableError ? error.message : error);
  process.exitCode = 1;
}
