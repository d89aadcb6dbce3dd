import { randomBytes } from "node:crypto";

import type { ExpectedBytes, ObjectStore } from "@relicario/tooling/objects";
import { and, eq, inArray, lte, sql } from "drizzle-orm";

import type { Db, Tx } from "../db/database.ts";
import { orphanedObjects } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { forEachAccount, repeatBatches, type SweepContext } from "../resource/sweep-context.ts";

/*
 * [Note: Objects and rows] An object and its row cannot change in one transaction. So:
 *
 * 1. `storeObjects` reserves: it records the key as orphaned, due in a day.
 * 2. It writes the object.
 * 3. `publishObjects`, in the transaction that inserts the row: the key is no longer orphaned.
 * 4. `orphanObjects`, in the transaction that deletes a row: the key is orphaned and due now.
 * 5. `collectOrphans` deletes what is due, first the object, then its key.
 *
 * Nothing is deleted while a backup holds the lease: it copies the rows of one moment, then their
 * objects. The next collection deletes what was due meanwhile.
 *
 * A kill -9 between any two steps leaves a published object with its row, or an orphaned one that
 * is collected.
 */

const reservationHours = 24;
/** When to retry an object that could not be deleted. */
const retryMinutes = 60;
const rowsPerBatch = 1_000;
const objectsPerBatch = 20;
/** Objects that are put at the same time. */
const concurrentPuts = 8;

/**
 * Any number, the same in every release and in tooling/src/backup/lease.ts, which takes it
 * exclusively.
 */
const backupLeaseKey = 7_235_003;

/** A unique key for a version of a secret, an upload or an answer. */
export function createObjectKey(accountId: string, id: string, version: number): string {
  return `${accountId}/${id}/${String(version)}-${randomBytes(12).toString("base64url")}`;
}

export interface NewObject extends ExpectedBytes {
  readonly objectKey: string;
  readonly bytes: Parameters<ObjectStore["put"]>[1];
}

/**
 * Steps 1 to 3 of [Note: Objects and rows]; objects that `publish` does not publish are discarded.
 *
 * @param publish one transaction; returns the keys that it published
 */
export async function storeObjects<T>(
  { db, objects }: { readonly db: Db; readonly objects: ObjectStore },
  accountId: string,
  newObjects: readonly NewObject[],
  now: Date,
  publish: () => Promise<{ readonly result: T; readonly publishedKeys: readonly string[] }>,
): Promise<T> {
  const discardAllBut = async (keptKeys: readonly string[]): Promise<void> => {
    for (const { objectKey } of newObjects)
      if (!keptKeys.includes(objectKey)) await discardObject(db, objects, accountId, objectKey);
  };
  const dueAt = new Date(now.getTime() + reservationHours * 3_600_000);
  if (newObjects.length > 0)
    await db.insert(orphanedObjects).values(newObjects.map(({ objectKey }) => ({ accountId, objectKey, dueAt })));
  try {
    for (let start = 0; start < newObjects.length; start += concurrentPuts)
      await Promise.all(
        newObjects
          .slice(start, start + concurrentPuts)
          .map(({ objectKey, bytes, size, sha256 }) => objects.put(objectKey, bytes, { size, sha256 })),
      );
  } catch (error) {
    await discardAllBut([]).catch(() => undefined); // collected in a day; the caller gets the first error
    throw error;
  }
  try {
    const { result, publishedKeys } = await publish();
    await discardAllBut(publishedKeys);
    return result;
  } catch (error) {
    // A Problem means a rollback. After any other failure the commit may have succeeded: the object
    // stays, and is collected in a day if it is orphaned.
    if (error instanceof Problem) await discardAllBut([]);
    throw error;
  }
}

/** @throws Error when an object was collected meanwhile; the transaction must be rolled back. */
export async function publishObjects(tx: Tx, accountId: string, objectKeys: readonly string[]): Promise<void> {
  const reservationCondition = and(
    eq(orphanedObjects.accountId, accountId),
    inArray(orphanedObjects.objectKey, [...objectKeys]),
  );
  const publishedRows = await tx
    .delete(orphanedObjects)
    .where(reservationCondition)
    .returning({ key: orphanedObjects.objectKey });
  if (publishedRows.length !== objectKeys.length)
    throw new Error("a reserved object was collected before it was published");
}

export async function orphanObjects(
  tx: Tx,
  accountId: string,
  objectKeys: readonly string[],
  now: Date,
): Promise<void> {
  for (let start = 0; start < objectKeys.length; start += rowsPerBatch) {
    const batch = objectKeys.slice(start, start + rowsPerBatch);
    await tx.insert(orphanedObjects).values(batch.map((objectKey) => ({ accountId, objectKey, dueAt: now })));
  }
}

/** Deletes an object that was reserved and will not be published. */
export async function discardObject(db: Db, objects: ObjectStore, accountId: string, objectKey: string): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await acquireDeletionLock(tx))) return;
    await objects.delete(objectKey);
    await tx.delete(orphanedObjects).where(whereOrphan(accountId, objectKey));
  });
}

/**
 * Deletes due objects, account by account. Several processes may do so at once: each row is locked
 * while its object is deleted. A failed one is due again later; the others continue.
 */
export function collectOrphans(
  { db, objects }: { readonly db: Db; readonly objects: ObjectStore },
  context: SweepContext,
): Promise<void> {
  const dueCondition = lte(orphanedObjects.dueAt, context.now);
  return forEachAccount(db, context, { accountId: orphanedObjects.accountId, dueCondition }, (accountId) =>
    repeatBatches(context, objectsPerBatch, () => deleteOrphanBatch(db, objects, accountId, context)),
  );
}

function deleteOrphanBatch(
  db: Db,
  objects: ObjectStore,
  accountId: string,
  { now, attempt }: SweepContext,
): Promise<number> {
  return db.transaction(async (tx) => {
    if (!(await acquireDeletionLock(tx))) return 0;
    const accountCondition = eq(orphanedObjects.accountId, accountId);
    const dueRows = await tx
      .select({ objectKey: orphanedObjects.objectKey })
      .from(orphanedObjects)
      .where(and(accountCondition, lte(orphanedObjects.dueAt, now)))
      .limit(objectsPerBatch)
      .for("update", { skipLocked: true });
    const [deletedKeys, failedKeys]: [string[], string[]] = [[], []];
    for (const { objectKey } of dueRows)
      ((await attempt(() => objects.delete(objectKey))) ? deletedKeys : failedKeys).push(objectKey);
    if (deletedKeys.length > 0)
      await tx.delete(orphanedObjects).where(and(accountCondition, inArray(orphanedObjects.objectKey, deletedKeys)));
    const dueAt = new Date(now.getTime() + retryMinutes * 60_000);
    if (failedKeys.length > 0)
      await tx
        .update(orphanedObjects)
        .set({ dueAt })
        .where(and(accountCondition, inArray(orphanedObjects.objectKey, failedKeys)));
    return dueRows.length;
  });
}

/**
 * Takes the lease shared until the transaction ends: any number of processes may delete, and a
 * backup waits for them.
 */
async function acquireDeletionLock(tx: Tx): Promise<boolean> {
  const { rows } = await tx.execute<{ acquired: boolean }>(
    sql`select pg_try_advisory_xact_lock_shared(${backupLeaseKey}) as acquired`,
  );
  return rows[0]?.acquired === true;
}

const whereOrphan = (accountId: string, objectKey: string) =>
  and(eq(orphanedObjects.accountId, accountId), eq(orphanedObjects.objectKey, objectKey));
