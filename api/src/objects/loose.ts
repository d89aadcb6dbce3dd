import { and, eq, inArray, lte, sql } from "drizzle-orm";

import type { Db, Tx } from "../db/database.ts";
import { looseObjects } from "../db/schema.ts";
import { forEachAccount, type Sweeping } from "../operations/sweeping.ts";
import type { ObjectStore } from "./object-store.ts";

/*
 * [Note: Objects and rows] An object and the row that refers to it cannot change in one
 * transaction. So:
 *
 * 1. `announce`: the key is written down as loose, due in a day.
 * 2. The object is put.
 * 3. `publish`, in the transaction that makes the row: the key is loose no more.
 * 4. `discard`, in the transaction that removes a row: its key is loose and due now.
 * 5. `collect`: what is due goes, first the object, then its key.
 *
 * Nothing goes while a backup holds the lease: it took the rows of one moment, and their objects
 * must stay until they are copied. What was due then goes at the next collection after it.
 *
 * kill -9 between any two of them leaves a published object with its row, or a loose one that is
 * collected.
 */

const unpublishedHours = 24;
/** One that could not be deleted is tried again so long after. */
const againMinutes = 60;
const rowsAtOnce = 1_000;
const objectsAtOnce = 20;

/**
 * Any number, the same in every release and in tooling/src/backup/lease.ts, which takes it alone.
 */
const lease = 7_235_003;

export async function announce(db: Db, accountId: string, objectKey: string, now: Date): Promise<void> {
  await announceAll(db, accountId, [objectKey], now);
}

/** As {@link announce}, at once. */
export async function announceAll(db: Db, accountId: string, objectKeys: readonly string[], now: Date): Promise<void> {
  const dueAt = new Date(now.getTime() + unpublishedHours * 3_600_000);
  await db.insert(looseObjects).values(objectKeys.map((objectKey) => ({ accountId, objectKey, dueAt })));
}

/** @throws Error when the object was collected meanwhile; the transaction must not go on. */
export async function publish(tx: Tx, accountId: string, objectKey: string): Promise<void> {
  await publishAll(tx, accountId, [objectKey]);
}

/** As {@link publish}, at once. */
export async function publishAll(tx: Tx, accountId: string, objectKeys: readonly string[]): Promise<void> {
  const these = and(eq(looseObjects.accountId, accountId), inArray(looseObjects.objectKey, [...objectKeys]));
  const taken = await tx.delete(looseObjects).where(these).returning({ key: looseObjects.objectKey });
  if (taken.length !== objectKeys.length) throw new Error("an object waited too long to be published");
}

export async function discard(tx: Tx, accountId: string, objectKeys: readonly string[], now: Date): Promise<void> {
  for (let start = 0; start < objectKeys.length; start += rowsAtOnce) {
    const some = objectKeys.slice(start, start + rowsAtOnce);
    await tx.insert(looseObjects).values(some.map((objectKey) => ({ accountId, objectKey, dueAt: now })));
  }
}

/** One that was announced and will not be published. */
export async function abandon(db: Db, objects: ObjectStore, accountId: string, objectKey: string): Promise<void> {
  await db.transaction(async (tx) => {
    if (!(await mayDelete(tx))) return;
    await objects.delete(objectKey);
    await tx.delete(looseObjects).where(isThat(accountId, objectKey));
  });
}

/**
 * Removes what is due, account by account. Several processes may do so at once: a row is held while
 * its object goes. An object that cannot be deleted is due again later, and the others go.
 */
export function collect(db: Db, objects: ObjectStore, sweeping: Sweeping): Promise<void> {
  const due = lte(looseObjects.dueAt, sweeping.now);
  return forEachAccount(db, sweeping, { accountId: looseObjects.accountId, due }, async (accountId) => {
    while ((await collectSome(db, objects, accountId, sweeping)) === objectsAtOnce && !sweeping.signal.aborted);
  });
}

function collectSome(db: Db, objects: ObjectStore, accountId: string, { now, attempt }: Sweeping): Promise<number> {
  return db.transaction(async (tx) => {
    if (!(await mayDelete(tx))) return 0;
    const own = eq(looseObjects.accountId, accountId);
    const due = await tx
      .select({ objectKey: looseObjects.objectKey })
      .from(looseObjects)
      .where(and(own, lte(looseObjects.dueAt, now)))
      .limit(objectsAtOnce)
      .for("update", { skipLocked: true });
    const [gone, left]: [string[], string[]] = [[], []];
    for (const { objectKey } of due) ((await attempt(() => objects.delete(objectKey))) ? gone : left).push(objectKey);
    if (gone.length > 0) await tx.delete(looseObjects).where(and(own, inArray(looseObjects.objectKey, gone)));
    const dueAt = new Date(now.getTime() + againMinutes * 60_000);
    if (left.length > 0)
      await tx
        .update(looseObjects)
        .set({ dueAt })
        .where(and(own, inArray(looseObjects.objectKey, left)));
    return due.length;
  });
}

/**
 * Shared, until the transaction ends: any number of processes may delete, and a backup waits for
 * them.
 */
async function mayDelete(tx: Tx): Promise<boolean> {
  const { rows } = await tx.execute<{ taken: boolean }>(
    sql`select pg_try_advisory_xact_lock_shared(${lease}) as taken`,
  );
  return rows[0]?.taken === true;
}

const isThat = (accountId: string, objectKey: string) =>
  and(eq(looseObjects.accountId, accountId), eq(looseObjects.objectKey, objectKey));
