import { join } from "node:path";

import { openObjectStore } from "../objects/index.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { acquireLease } from "./lease.ts";
import { compareObjects, listKeys, readOrphanedKeys, readReferencedObjects, type Findings } from "./objects.ts";
import { findDamagedRows } from "./rows.ts";
import {
  DamagedFileError,
  databaseNames,
  getObjectsFolder,
  readObjectList,
  readState,
  listStateNames,
  getStatesFolder,
  type BackedUpObject,
} from "./state.ts";
import type { PortalStorage } from "./portal-storage.ts";

/**
 * Compares rows with objects while the system may run: objects that are being written are not
 * reported.
 */
export async function checkSystem({
  databaseUrls,
  objectsUrl,
}: Pick<PortalStorage, "databaseUrls" | "objectsUrl">): Promise<Findings> {
  const lease = await acquireLease(databaseUrls.service);
  try {
    const objects = await openObjectStore(objectsUrl);
    const existingKeys = await listKeys(objects); // before the rows: keys are reserved before their objects exist
    await lease.client.query("begin isolation level repeatable read read only");
    const referencedObjects = await readReferencedObjects(lease.client);
    const orphanedKeys = await readOrphanedKeys(lease.client);
    await lease.client.query("commit");
    const findings = await compareObjects(objects, referencedObjects, existingKeys, orphanedKeys);
    await lease.assertHeld();
    return findings;
  } finally {
    await lease.release();
  }
}

/** Checks all states, their rows and objects. Reports damaged files other than objects by path. */
export async function checkBackup(backupFolder: string): Promise<Findings> {
  const names = await listStateNames(backupFolder);
  if (names.length === 0) throw new UserFacingError(`${backupFolder} holds no backup.`);
  const objects = new Map<string, BackedUpObject>();
  const rows: Awaited<ReturnType<typeof findDamagedRows>>[] = [];
  const damagedFiles: DamagedFileError[] = [];
  for (const name of names) {
    const state = await readState(backupFolder, name).catch(collectDamage);
    if (state === null) continue;
    const objectList = await readObjectList(backupFolder, name, state).catch(collectDamage);
    for (const object of objectList ?? []) objects.set(object.key, object);
    for (const database of databaseNames) {
      const databaseState = state.databases[database];
      if (databaseState !== undefined)
        rows.push(await findDamagedRows(database, databaseState, join(getStatesFolder(backupFolder), name)));
    }
  }
  const copies = await openObjectStore(getObjectsFolder(backupFolder));
  const objectFindings = await compareObjects(copies, [...objects.values()], await listKeys(copies));
  const allFindings = [...rows, objectFindings];
  return {
    checkedCount: allFindings.reduce((sum, { checkedCount }) => sum + checkedCount, names.length),
    missing: [
      ...damagedFiles.filter(({ isMissing }) => isMissing).map(({ file }) => file),
      ...allFindings.flatMap(({ missing }) => missing),
    ],
    changed: [
      ...damagedFiles.filter(({ isMissing }) => !isMissing).map(({ file }) => file),
      ...allFindings.flatMap(({ changed }) => changed),
    ],
    // a damaged state may reference them
    unreferenced: damagedFiles.length === 0 ? objectFindings.unreferenced : [],
  };

  function collectDamage(error: unknown): null {
    if (!(error instanceof DamagedFileError)) throw error;
    damagedFiles.push(error);
    return null;
  }
}
