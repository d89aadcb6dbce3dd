import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";

import { UserFacingError } from "../user-facing-error.ts";
import { tryLock } from "../keys/lock.ts";
import { copyVerified, hashFile, listFiles, writeFileDurably, syncFolders } from "./files.ts";
import { connect, acquireLease } from "./lease.ts";
import { readReferencedObjects, type ReferencedObject } from "./objects.ts";
import { copyRowsOut } from "./rows.ts";
import {
  formatObjectLine,
  getObjectListFile,
  getObjectsFolder,
  readObjectList,
  readState,
  listStateNames,
  getStatesFolder,
  unfinishedStateName,
  type DatabaseState,
  type BackedUpObject,
  type BackupState,
} from "./state.ts";
import type { PortalStorage } from "./portal-storage.ts";

export interface BackupResult {
  readonly name: string;
  readonly state: BackupState;
  /** Objects that were not there before. */
  readonly copied: number;
  /** Keys of objects that rows name, and that are missing or changed in the system. */
  readonly damaged: readonly string[];
}

/*
 * [Note: Backup] The portal may run, write and delete meanwhile.
 *
 * 1. The lease: no object is deleted until it is given back.
 * 2. The service's rows, all of one moment, with the list of objects that they name. Every one of
 *    them was there then.
 * 3. The provider's rows, of a later moment: everybody whom the service knows is there.
 * 4. The objects that the backup has not got yet: they never change. Each is compared with its
 *    digest.
 * 5. The lease was not lost. The state gets its name, and objects that no state names go.
 */
export async function makeBackup(
  { databaseUrls, objectsPath }: Pick<PortalStorage, "databaseUrls" | "objectsPath">,
  backupFolder: string,
  now = new Date(),
): Promise<BackupResult> {
  await mkdir(backupFolder, { recursive: true, mode: 0o700 });
  const lock = tryLock(join(backupFolder, "running.lock"));
  if ("heldBy" in lock) throw new UserFacingError(`Process ${String(lock.heldBy.pid)} is writing to ${backupFolder}.`);
  try {
    const name = now.toISOString().replaceAll(":", "-");
    const stateFolder = join(getStatesFolder(backupFolder), unfinishedStateName);
    await rm(stateFolder, { recursive: true, force: true });
    await mkdir(stateFolder, { recursive: true, mode: 0o700 });
    const lease = await acquireLease(databaseUrls.service);
    try {
      await lease.client.query("begin isolation level repeatable read read only");
      const service = await copyRowsOut(lease.client, "service", stateFolder);
      const referencedObjects = await readReferencedObjects(lease.client);
      await lease.client.query("commit");
      const identity = databaseUrls.identity === null ? null : await copyIdentity(databaseUrls.identity, stateFolder);
      const {
        backedUpObjects,
        copied: copiedCount,
        damaged: damagedKeys,
      } = await copyObjects(objectsPath, backupFolder, referencedObjects);
      await lease.assertHeld();
      const objectList = await writeFileDurably(
        createTextStream(backedUpObjects.map(formatObjectLine)),
        getObjectListFile(stateFolder),
      );
      const bytes = backedUpObjects.reduce((sum, { size }) => sum + size, 0);
      const stateDocument: BackupState = {
        v: 1,
        made_at: now.toISOString(),
        databases: { service, ...(identity === null ? {} : { identity }) },
        objects: { count: backedUpObjects.length, bytes, sha256: objectList.sha256 },
      };
      await writeFileDurably(
        createTextStream([JSON.stringify(stateDocument, null, 2)]),
        join(stateFolder, "state.json"),
      );
      await syncFolders(
        stateFolder,
        (await listFiles(stateFolder)).map((file) => join(stateFolder, file)),
      );
      await rename(stateFolder, join(getStatesFolder(backupFolder), name));
      await syncFolders(backupFolder, [join(getStatesFolder(backupFolder), name)]);
      await deleteUnreferencedObjects(backupFolder);
      return { name, state: stateDocument, copied: copiedCount, damaged: damagedKeys };
    } finally {
      await lease.release();
    }
  } finally {
    lock.release();
  }
}

const createTextStream = (lines: readonly string[]): Readable =>
  Readable.from(
    lines.map((line) => Buffer.from(line)),
    { objectMode: false },
  );

async function copyIdentity(url: string, stateFolder: string): Promise<DatabaseState> {
  const client = await connect(url);
  try {
    await client.query("begin isolation level repeatable read read only");
    return await copyRowsOut(client, "identity", stateFolder);
  } finally {
    await client.end();
  }
}

async function copyObjects(
  source: string,
  backupFolder: string,
  referencedObjects: readonly ReferencedObject[],
): Promise<{ backedUpObjects: BackedUpObject[]; copied: number; damaged: string[] }> {
  const backedUpObjects: BackedUpObject[] = [];
  const damagedKeys: string[] = [];
  const files: string[] = [];
  const existingKeys = new Set(await listFiles(getObjectsFolder(backupFolder)));
  const knownDigests = referencedObjects.some(({ sha256 }) => sha256 === null)
    ? await readKnownDigests(backupFolder)
    : null;
  for (const object of referencedObjects) {
    const file = join(getObjectsFolder(backupFolder), object.key);
    if (existingKeys.has(object.key)) {
      // Written by a backup before, under this name only when it was right: a copy that changed
      // since must not become right.
      backedUpObjects.push({
        ...object,
        sha256: object.sha256 ?? knownDigests?.get(object.key) ?? (await hashFile(file))?.sha256 ?? "",
      });
      continue;
    }
    const { digest, matches } = await copyVerified(join(source, object.key), file, object);
    if (matches && digest !== null) files.push(file);
    else damagedKeys.push(object.key);
    backedUpObjects.push({ ...object, sha256: object.sha256 ?? (matches ? digest?.sha256 : null) ?? "" });
  }
  await mkdir(getObjectsFolder(backupFolder), { recursive: true, mode: 0o700 });
  await syncFolders(getObjectsFolder(backupFolder), files);
  return { backedUpObjects, copied: files.length, damaged: damagedKeys };
}

/**
 * By key, of objects that were found at some time: as the state says that was the first to have
 * each.
 */
async function readKnownDigests(backupFolder: string): Promise<Map<string, string>> {
  const knownDigests = new Map<string, string>();
  for (const name of await listStateNames(backupFolder)) {
    const list = await readState(backupFolder, name)
      .then((state) => readObjectList(backupFolder, name, state))
      .catch(() => []); // deleteUnreferencedObjects says that it is damaged
    for (const { key, sha256 } of list) if (sha256 !== "" && !knownDigests.has(key)) knownDigests.set(key, sha256);
  }
  return knownDigests;
}

/** Objects of states that somebody removed. */
async function deleteUnreferencedObjects(backupFolder: string): Promise<void> {
  const referencedKeys = new Set<string>();
  for (const name of await listStateNames(backupFolder))
    for (const { key } of await readObjectList(backupFolder, name, await readState(backupFolder, name)))
      referencedKeys.add(key);
  for (const key of await listFiles(getObjectsFolder(backupFolder)))
    if (!referencedKeys.has(key)) await rm(join(getObjectsFolder(backupFolder), key));
}
