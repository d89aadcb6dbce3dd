import { and, eq, inArray, lte, sql } from "drizzle-orm";

import type { Db, Tx } from "../db/database.ts";
import { orphanedObjects } from "../db/schema.ts";
import { forEachAccount, type SweepContext } from "../resource/sweep-context.ts";
import type { ObjectStore } from "./object-store.ts";

/*
 * [Note: Objects and rows] An object and the row that refers to it cannot change in one
 * transaction. So:
 *
 * 1. `reserveObject`: the key is written down as orphaned, due in a day.
 * 2. The object is put.
 * 3. `publishObject`, in the transaction that makes the row: the key is orphaned no more.
 * 4. `orphanObjects`, in the transaction that removes a row: its key is orphaned and due now.
 * 5. `collectOrphans`: what is due goes, first the object, then its key.
 *
 * Nothing goes while a backup holds the lease: it took the rows of one moment, and their objects
 * must stay until they are copied. What was due then goes at the next collection after it.
 *
 * kill -9 between any two of them leaves a published object with its row, or an orphaned one that
 * is collected.
 */

const reservationHours = 24;
/** One that could not be deleted is tried again so long after. */
const retryMinutes = 60;
const rowsPerBatch = 1_000;
const objectsPerBatch = 20;

/**
 * Any number, the same in every release and in tooling/src/backup/lease.ts, which takes it alone.
 */
const backupLeaseKey = 7_235_003;

export async function reserveObject(db: Db, accountId: string, objectKey: string, now: Date): Promise<void> {
  await reserveObjects(db, accountId, [objectKey], now);
}

/** As {@link reserveObject}, at once. */
export async function reserveObjects(
  db: Db,
  accountId: string,
  objectKeys: readonly string[],
  now: Date,
): Promise<void> {
  const dueAt = new Date(now.getTime() + reservationHours * 3_600_000);
  await db.insert(orphanedObjects).values(objectKeys.map((objectKey) => ({ accountId, objectKey, dueAt })));
}

/** @throws Error when the object was collected meanwhile; the transaction must not go on. */
export async function publishObject(tx: Tx, accountId: string, objectKey: string): Promise<void> {
  await publishObjects(tx, accountId, [objectKey]);
}

/** As {@link publishObject}, at once. */
export async function publishObjects(tx: Tx, accountId: string, objectKeys: readonly string[]): Promise<void> {
  const isReserved = and(eq(orphanedObjects.accountId, accountId), inArray(orphanedObjects.objectKey, [...objectKeys]));
  const published = await tx.delete(orphanedObjects).where(isReserved).returning({ key: orphanedObjects.objectKey });
  if (published.length !== objectKeys.length) throw new Error("an object waited too long to be published");
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

/** One that was reserved and will not be published. */
export async function discardObject(db: Db, objects: ObjectStore, accountId: string, objectKey: string): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await acquireDeletionLock(tx))) return;
    await objects.delete(objectKey);
    await tx.delete(orphanedObjects).where(isOrphan(accountId, objectKey));
  });
}

/**
 * Removes what is due, account by account. Several processes may do so at once: a row is held while
 * its object goes. An object that cannot be deleted is due again later, and the others go.
 */
export function collectOrphans(
  { db, objects }: { readonly db: Db; readonly objects: ObjectStore },
  context: SweepContext,
): Promise<void> {
  const isDue = lte(orphanedObjects.dueAt, context.now);
  return forEachAccount(db, context, { accountId: orphanedObjects.accountId, due: isDue }, async (accountId) => {
    while ((await deleteOrphanBatch(db, objects, accountId, context)) === objectsPerBatch && !context.signal.aborted);
  });
}

function deleteOrphanBatch(
  db: Db,
  objects: ObjectStore,
  accountId: string,
  { now, attempt }: SweepContext,
): Promise<number> {
  return db.transaction(async (tx) => {
    if (!(await acquireDeletionLock(tx))) return 0;
    const belongsToAccount = eq(orphanedObjects.accountId, accountId);
    const dueRows = await tx
      .select({ objectKey: orphanedObjects.objectKey })
      .from(orphanedObjects)
      .where(and(belongsToAccount, lte(orphanedObjects.dueAt, now)))
      .limit(objectsPerBatch)
      .for("update", { skipLocked: true });
    const [deletedKeys, failedKeys]: [string[], string[]] = [[], []];
    for (const { objectKey } of dueRows)
      ((await attempt(() => objects.delete(objectKey))) ? deletedKeys : failedKeys).push(objectKey);
    if (deletedKeys.length > 0)
      await tx.delete(orphanedObjects).where(and(belongsToAccount, inArray(orphanedObjects.objectKey, deletedKeys)));
    const dueAt = new Date(now.getTime() + retryMinutes * 60_000);
    if (failedKeys.length > 0)
      await tx
        .update(orphanedObjects)
        .set({ dueAt })
        .where(and(belongsToAccount, inArray(orphanedObjects.objectKey, failedKeys)));
    return dueRows.length;
  });
}

/**
 * Shared, until the transaction ends: any number of processes may delete, and a backup waits for
 * them.
 */
async function acquireDeletionLock(tx: Tx): Promise<boolean> {
  const { rows } = await tx.execute<{ acquired: boolean }>(
    sql`select pg_try_advisory_xact_lock_shared(${backupLeaseKey}) as acquired`,
  );
  return rows[0]?.acquired === true;
}

const isOrphan = (accountId: string, objectKey: string) =>
  and(eq(orphanedObjects.accountId, accountId), eq(orphanedObjects.objectKey, objectKey));
