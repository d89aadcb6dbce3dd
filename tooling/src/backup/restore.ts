import { join } from "node:path";

import type { Client } from "pg";

import { copyObjects, openObjectStore, type ObjectStore } from "../objects/index.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { connectToDatabase } from "./lease.ts";
import { listKeys } from "./objects.ts";
import { copyRowsIn, findDamagedRows, isDatabaseEmpty, prepareTables } from "./rows.ts";
import {
  DamagedFileError,
  databaseNames,
  getObjectsFolder,
  readObjectList,
  readState,
  listStateNames,
  getStatesFolder,
  type DatabaseName,
  type DatabaseState,
  type BackedUpObject,
  type BackupState,
} from "./state.ts";
import type { PortalStorage } from "./portal-storage.ts";

export interface RestoreResult {
  readonly name: string;
  readonly state: BackupState;
  /** Keys of objects that are missing or damaged in the backup. */
  readonly damagedKeys: readonly string[];
}

interface TargetDatabase {
  readonly database: DatabaseName;
  readonly url: string;
  readonly client: Client;
  readonly databaseState: DatabaseState;
}

/**
 * Restores a state into an empty system: objects, then rows, committed when all are loaded. Can be
 * repeated after an interruption.
 *
 * @param requestedName the newest state when undefined
 * @throws DamagedFileError; UserFacingError when there is no such state, or the target is not empty
 */
export async function restoreBackup(
  { databaseUrls, objectsUrl }: Pick<PortalStorage, "databaseUrls" | "objectsUrl">,
  backupFolder: string,
  requestedName?: string,
): Promise<RestoreResult> {
  const names = await listStateNames(backupFolder);
  const name = requestedName ?? names.at(-1);
  if (name === undefined || !names.includes(name))
    throw new UserFacingError(
      `${backupFolder} holds no ${requestedName === undefined ? "backup" : `state ${requestedName}`}.`,
    );
  const state = await readState(backupFolder, name);
  const objectList = await readObjectList(backupFolder, name, state);
  const objects = await openObjectStore(objectsUrl);
  await rejectForeignObjects(objects, objectList);
  const targets: TargetDatabase[] = [];
  try {
    for (const database of databaseNames) {
      const [url, databaseState] = [databaseUrls[database], state.databases[database]];
      if (databaseState === undefined) continue;
      const { missing, changed } = await findDamagedRows(
        database,
        databaseState,
        join(getStatesFolder(backupFolder), name),
      );
      const [missingFile] = missing;
      const damagedFile = missingFile ?? changed[0];
      if (damagedFile !== undefined) throw new DamagedFileError(damagedFile, damagedFile === missingFile);
      if (url === null)
        throw new UserFacingError("The backup has rows of the identity provider: set IDENTITY_DATABASE_URL too.");
      targets.push({ database, url, client: await connectToDatabase(url), databaseState });
    }
    for (const { client, database } of targets)
      if (!(await isDatabaseEmpty(client, database)))
        throw new UserFacingError(`The database of ${database} is not empty: restore into a new one.`);
    await Promise.all(
      targets.map(({ client, url, database, databaseState }) => prepareTables(client, url, database, databaseState)),
    );
    const damagedKeys = await restoreObjects(backupFolder, objects, objectList);
    for (const { client, database, databaseState } of targets) {
      await client.query("begin");
      await copyRowsIn(client, database, databaseState, join(getStatesFolder(backupFolder), name));
    }
    for (const { client } of targets) await client.query("commit");
    return { name, state, damagedKeys };
  } finally {
    for (const { client } of targets) await client.end();
  }
}

async function rejectForeignObjects(objects: ObjectStore, objectList: readonly BackedUpObject[]): Promise<void> {
  const expectedKeys = new Set(objectList.map(({ key }) => key));
  const foreignKeys = (await listKeys(objects)).filter((key) => !expectedKeys.has(key));
  if (foreignKeys.length > 0)
    throw new UserFacingError(
      `The object store is not empty (${String(foreignKeys.length)} objects that are not of this backup): restore into a new one.`,
    );
}

async function restoreObjects(
  backupFolder: string,
  objects: ObjectStore,
  objectList: readonly BackedUpObject[],
): Promise<string[]> {
  const copies = await openObjectStore(getObjectsFolder(backupFolder));
  const digests = await copyObjects(copies, objects, objectList);
  return objectList.filter((_, index) => digests[index] === null).map(({ key }) => key);
}
