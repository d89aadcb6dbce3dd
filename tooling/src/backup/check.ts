import { join } from "node:path";

import { UserFacingError } from "../user-facing-error.ts";
import { listFiles } from "./files.ts";
import { acquireLease } from "./lease.ts";
import { compareObjects, readOrphanedKeys, readReferencedObjects, type Findings } from "./objects.ts";
import { findDamagedRows } from "./rows.ts";
import {
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
 * The rows of a system against its objects, while it may run: what is being written is in no
 * finding.
 */
export async function checkSystem({
  databaseUrls,
  objectsPath,
}: Pick<PortalStorage, "databaseUrls" | "objectsPath">): Promise<Findings> {
  const lease = await acquireLease(databaseUrls.service);
  try {
    const existingFiles = await listFiles(objectsPath); // before the rows: whatever is there then was announced before
    await lease.client.query("begin isolation level repeatable read read only");
    const referenced = await readReferencedObjects(lease.client);
    const orphanedKeys = await readOrphanedKeys(lease.client);
    await lease.client.query("commit");
    const findings = await compareObjects(objectsPath, referenced, existingFiles, orphanedKeys);
    await lease.assertHeld();
    return findings;
  } finally {
    await lease.release();
  }
}

/**
 * All states of a backup: their rows and their objects. Files of rows stand among the findings by
 * their path.
 */
export async function checkBackup(backupFolder: string): Promise<Findings> {
  const names = await listStateNames(backupFolder);
  if (names.length === 0) throw new UserFacingError(`${backupFolder} holds no backup.`);
  const objects = new Map<string, BackedUpObject>();
  const rows: Awaited<ReturnType<typeof findDamagedRows>>[] = [];
  for (const name of names) {
    const state = await readState(backupFolder, name);
    for (const object of await readObjectList(backupFolder, name, state)) objects.set(object.key, object);
    for (const database of databaseNames) {
      const databaseState = state.databases[database];
      if (databaseState !== undefined)
        rows.push(await findDamagedRows(database, databaseState, join(getStatesFolder(backupFolder), name)));
    }
  }
  const folder = getObjectsFolder(backupFolder);
  const objectFindings = await compareObjects(folder, [...objects.values()], await listFiles(folder));
  const allFindings = [...rows, objectFindings];
  return {
    checkedCount: allFindings.reduce((sum, { checkedCount }) => sum + checkedCount, 0),
    missing: allFindings.flatMap(({ missing }) => missing),
    changed: allFindings.flatMap(({ changed }) => changed),
    unreferenced: objectFindings.unreferenced,
  };
}
