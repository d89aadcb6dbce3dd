import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";

import { UserFacingError } from "../user-facing-error.ts";
import { tryLock } from "../keys/lock.ts";
import { copyObjects, hashObject, openObjectStore, type ObjectReference, type ObjectStore } from "../objects/index.ts";
import { listFiles, writeFileDurably, syncFolders } from "./files.ts";
import { connectToDatabase, acquireLease } from "./lease.ts";
import { readReferencedObjects } from "./objects.ts";
import { copyRowsOut } from "./rows.ts";
import {
  formatObjectLine,
  getObjectListFile,
  getObjectsFolder,
  readObjectList,
  readState,
  listStateNames,
  getStateDigestFile,
  getStateFile,
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
  readonly copiedCount: number;
  /** Keys of referenced objects that are missing or damaged in the system. */
  readonly damagedKeys: readonly string[];
}

/*
 * [Note: Backup] The portal may run, write and delete meanwhile.
 *
 * 1. Take the lease: no object is deleted until it is released.
 * 2. Copy the service's rows in one snapshot, and list the objects that they reference, which all
 *    exist at that time.
 * 3. Copy the identity provider's rows from a later snapshot, which has every account that the
 *    service knows.
 * 4. Copy the objects that the backup lacks, each compared with its digest. Objects never change.
 * 5. Verify that the lease was held throughout, give the state its name, and delete objects that no
 *    state references.
 */
export async function makeBackup(
  { databaseUrls, objectsUrl }: Pick<PortalStorage, "databaseUrls" | "objectsUrl">,
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
      const { backedUpObjects, copiedCount, damagedKeys } = await copyMissingObjects(
        await openObjectStore(objectsUrl),
        backupFolder,
        referencedObjects,
      );
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
      const stateDigest = await writeFileDurably(
        createTextStream([JSON.stringify(stateDocument, null, 2)]),
        getStateFile(stateFolder),
      );
      await writeFileDurably(createTextStream([stateDigest.sha256]), getStateDigestFile(stateFolder));
      await syncFolders(
        stateFolder,
        (await listFiles(stateFolder)).map((file) => join(stateFolder, file)),
      );
      await rename(stateFolder, join(getStatesFolder(backupFolder), name));
      await syncFolders(backupFolder, [join(getStatesFolder(backupFolder), name)]);
      await deleteUnreferencedObjects(backupFolder);
      return { name, state: stateDocument, copiedCount, damagedKeys };
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
  const client = await connectToDatabase(url);
  try {
    await client.query("begin isolation level repeatable read read only");
    return await copyRowsOut(client, "identity", stateFolder);
  } finally {
    await client.end();
  }
}

async function copyMissingObjects(
  source: ObjectStore,
  backupFolder: string,
  referencedObjects: readonly ObjectReference[],
): Promise<{ backedUpObjects: BackedUpObject[]; copiedCount: number; damagedKeys: string[] }> {
  const copies = await openObjectStore(getObjectsFolder(backupFolder));
  const existingKeys = new Set(await listFiles(getObjectsFolder(backupFolder)));
  const missingObjects = referencedObjects.filter(({ key }) => !existingKeys.has(key));
  const digests = await copyObjects(source, copies, missingObjects);
  const copiedDigests = new Map(missingObjects.map(({ key }, index) => [key, digests[index] ?? null]));
  const knownDigests = referencedObjects.some(({ sha256 }) => sha256 === null)
    ? await readKnownDigests(backupFolder)
    : null;
  const backedUpObjects: BackedUpObject[] = [];
  for (const object of referencedObjects) {
    // Keeps the recorded digest of an existing copy, so that later damage is detected.
    const sha256 =
      object.sha256 ??
      (existingKeys.has(object.key)
        ? (knownDigests?.get(object.key) ?? (await hashObject(copies, object.key))?.sha256.toString("hex"))
        : copiedDigests.get(object.key));
    backedUpObjects.push({ ...object, sha256: sha256 ?? "" });
  }
  const damagedKeys = missingObjects.map(({ key }) => key).filter((key) => copiedDigests.get(key) === null);
  return { backedUpObjects, copiedCount: missingObjects.length - damagedKeys.length, damagedKeys };
}

/** Digests by key, from the first state that recorded one. */
async function readKnownDigests(backupFolder: string): Promise<Map<string, string>> {
  const knownDigests = new Map<string, string>();
  for (const name of await listStateNames(backupFolder)) {
    const list = await readState(backupFolder, name)
      .then((state) => readObjectList(backupFolder, name, state))
      .catch(() => []); // deleteUnreferencedObjects reports the damage
    for (const { key, sha256 } of list) if (sha256 !== "" && !knownDigests.has(key)) knownDigests.set(key, sha256);
  }
  return knownDigests;
}

/** Deletes objects whose states were removed by hand. */
async function deleteUnreferencedObjects(backupFolder: string): Promise<void> {
  const referencedKeys = new Set<string>();
  for (const name of await listStateNames(backupFolder))
    for (const { key } of await readObjectList(backupFolder, name, await readState(backupFolder, name)))
      referencedKeys.add(key);
  for (const key of await listFiles(getObjectsFolder(backupFolder)))
    if (!referencedKeys.has(key)) await rm(join(getObjectsFolder(backupFolder), key));
}
