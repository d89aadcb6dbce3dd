import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import type { Client } from "pg";

import { UserFacingError } from "../user-facing-error.ts";
import { copyVerified, listFiles, syncFolders } from "./files.ts";
import { connect } from "./lease.ts";
import { copyRowsIn, findDamagedRows, isDatabaseEmpty, prepareTables } from "./rows.ts";
import {
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
  /** Keys of objects that the backup has not got, or not as they were. */
  readonly damaged: readonly string[];
}

interface TargetDatabase {
  readonly database: DatabaseName;
  readonly url: string;
  readonly client: Client;
  readonly databaseState: DatabaseState;
}

/**
 * Puts a state into an empty place: objects first, then the rows that name them, committed when all
 * are loaded. One that broke off can be started again.
 *
 * @param requestedName a state's name; the newest when undefined
 * @throws UserFacingError when there is no such state, when the place is not empty, or for rows
 *   that are not what was written
 */
export async function restoreBackup(
  { databaseUrls, objectsPath }: Pick<PortalStorage, "databaseUrls" | "objectsPath">,
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
  await rejectForeignFiles(objectsPath, objectList);
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
      const [damaged] = [...missing, ...changed];
      if (damaged !== undefined) throw new UserFacingError(`${damaged} is not what was written.`);
      if (url === null)
        throw new UserFacingError("The backup has rows of the identity provider: set IDENTITY_DATABASE_URL too.");
      targets.push({ database, url, client: await connect(url), databaseState });
    }
    for (const { client, database } of targets)
      if (!(await isDatabaseEmpty(client, database)))
        throw new UserFacingError(`The database of ${database} is not empty: restore into a new one.`);
    await Promise.all(
      targets.map(({ client, url, database, databaseState }) => prepareTables(client, url, database, databaseState)),
    );
    const damagedKeys = await restoreObjects(backupFolder, objectsPath, objectList);
    for (const { client, database, databaseState } of targets) {
      await client.query("begin");
      await copyRowsIn(client, database, databaseState, join(getStatesFolder(backupFolder), name));
    }
    for (const { client } of targets) await client.query("commit");
    return { name, state, damaged: damagedKeys };
  } finally {
    for (const { client } of targets) await client.end();
  }
}

async function rejectForeignFiles(folder: string, objectList: readonly BackedUpObject[]): Promise<void> {
  const expectedKeys = new Set(objectList.map(({ key }) => key));
  const foreignFiles = (await listFiles(folder)).filter(
    (path) => !expectedKeys.has(path.replace(/\.[0-9a-f]{12}\.tmp$/, "")),
  );
  if (foreignFiles.length > 0)
    throw new UserFacingError(
      `${folder} is not empty (${String(foreignFiles.length)} objects that are not of this backup): restore into a new folder.`,
    );
}

async function restoreObjects(
  backupFolder: string,
  folder: string,
  objectList: readonly BackedUpObject[],
): Promise<string[]> {
  const damagedKeys: string[] = [];
  const files: string[] = [];
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const object of objectList) {
    const file = join(folder, object.key);
    const { matches } = await copyVerified(join(getObjectsFolder(backupFolder), object.key), file, object);
    if (matches) files.push(file);
    else damagedKeys.push(object.key);
  }
  await syncFolders(folder, files);
  return damagedKeys;
}
