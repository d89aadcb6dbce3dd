import { maxVersions } from "@relicario/shared/api";
import { and, asc, count, desc, eq, gt, sql, type SQL } from "drizzle-orm";

import type { Db, Tx } from "../db/database.ts";
import { accounts, keyrings, purgedSecrets, secrets, secretVersions } from "../db/schema.ts";
import { inOneMoment } from "../keyring/queries.ts";
import { discard } from "../objects/loose.ts";
import type { OwnSecrets } from "./policy.ts";

export type SecretRow = typeof secrets.$inferSelect;
export type VersionRow = typeof secretVersions.$inferSelect;

export interface ListedPage {
  readonly rows: readonly SecretRow[];
  readonly total: number;
  readonly nextCursor: string | null;
  readonly stateRev: number;
  readonly changes: number;
  /** Null without `since`. */
  readonly purged: readonly string[] | null;
}

export interface Counters {
  readonly changes: number;
  readonly stateRev: number;
}

/** What the list's ETag carries: it changes with every row and with every state. */
export async function readCounters(db: Db | Tx, { accountId }: OwnSecrets): Promise<Counters> {
  const [row] = await db
    .select({ changes: accounts.changes, stateRev: keyrings.stateRev })
    .from(accounts)
    .leftJoin(keyrings, eq(keyrings.accountId, accounts.id))
    .where(eq(accounts.id, accountId));
  if (row === undefined) throw new Error("a session without its account");
  return { changes: row.changes, stateRev: row.stateRev ?? 0 };
}

/** One page, all of one moment. */
export function listSecrets(
  db: Db,
  own: OwnSecrets,
  { limit, cursor, since }: { limit: number; cursor?: string | undefined; since?: number | undefined },
): Promise<ListedPage> {
  const mine = eq(secrets.accountId, own.accountId);
  const wanted: (SQL | undefined)[] = [mine, cursor === undefined ? undefined : gt(secrets.id, cursor), since === undefined ? undefined : gt(secrets.change, since)];
  return inOneMoment(db, async (tx) => {
    const counters = await readCounters(tx, own);
    const rows = await tx
      .select()
      .from(secrets)
      .where(and(...wanted))
      .orderBy(asc(secrets.id))
      .limit(limit + 1);
    const total = await countSecrets(tx, own);
    const purged =
      since === undefined
        ? null
        : await tx
            .select({ id: purgedSecrets.id })
            .from(purgedSecrets)
            .where(and(eq(purgedSecrets.accountId, own.accountId), gt(purgedSecrets.change, since)))
            .orderBy(asc(purgedSecrets.id));
    const page = rows.slice(0, limit);
    const nextCursor = rows.length > limit ? (page.at(-1)?.id ?? null) : null;
    return { ...counters, rows: page, total, nextCursor, purged: purged?.map(({ id }) => id) ?? null };
  });
}

export async function findSecret(db: Db | Tx, { accountId }: OwnSecrets, id: string): Promise<SecretRow | null> {
  const [row] = await db
    .select()
    .from(secrets)
    .where(and(eq(secrets.accountId, accountId), eq(secrets.id, id)));
  return row ?? null;
}

export async function countSecrets(db: Db | Tx, { accountId }: OwnSecrets): Promise<number> {
  const [all] = await db.select({ rows: count() }).from(secrets).where(eq(secrets.accountId, accountId));
  return all?.rows ?? 0;
}

/** Newest first. */
export function readVersions(db: Db | Tx, { accountId }: OwnSecrets, id: string): Promise<VersionRow[]> {
  return db
    .select()
    .from(secretVersions)
    .where(and(eq(secretVersions.accountId, accountId), eq(secretVersions.secretId, id)))
    .orderBy(desc(secretVersions.version));
}

/** An id is taken while its row is there and for ever after it was purged. */
export async function isTaken(tx: Tx, own: OwnSecrets, id: string): Promise<boolean> {
  if ((await findSecret(tx, own, id)) !== null) return true;
  const purged = await tx
    .select({ id: purgedSecrets.id })
    .from(purgedSecrets)
    .where(and(eq(purgedSecrets.accountId, own.accountId), eq(purgedSecrets.id, id)));
  return purged.length > 0;
}

/** The next value of the account's counter, for the rows that this transaction changes. */
export async function nextChange(tx: Tx, accountId: string): Promise<number> {
  const [row] = await tx
    .update(accounts)
    .set({ changes: sql`${accounts.changes} + 1` })
    .where(eq(accounts.id, accountId))
    .returning({ changes: accounts.changes });
  if (row === undefined) throw new Error("a session without its account");
  return row.changes;
}

export async function addStorage(tx: Tx, accountId: string, bytes: number): Promise<void> {
  await tx
    .update(accounts)
    .set({ storageUsed: sql`${accounts.storageUsed} + ${bytes}` })
    .where(eq(accounts.id, accountId));
}

export interface NewVersion {
  readonly id: string;
  readonly version: number;
  readonly label: string;
  readonly ticket: Buffer;
  readonly objectKey: string;
  readonly contentSha256: Buffer;
  readonly size: number;
}

/** Version 1 makes the row. Versions beyond the newest 20 go, with their objects. */
export async function writeVersion(tx: Tx, { accountId }: OwnSecrets, next: NewVersion, change: number, now: Date): Promise<void> {
  const { id, version, label, ticket, objectKey, contentSha256, size } = next;
  if (version === 1) {
    await tx.insert(secrets).values({ accountId, id, version, label, size, createdAt: now, updatedAt: now, change });
  } else {
    await tx
      .update(secrets)
      .set({ version, label, size, updatedAt: now, change })
      .where(and(eq(secrets.accountId, accountId), eq(secrets.id, id)));
  }
  await tx.insert(secretVersions).values({ accountId, secretId: id, version, ticket, objectKey, contentSha256, size, createdAt: now });
  const dropped = await tx
    .delete(secretVersions)
    .where(and(eq(secretVersions.accountId, accountId), eq(secretVersions.secretId, id), sql`${secretVersions.version} <= ${version - maxVersions}`))
    .returning({ objectKey: secretVersions.objectKey, size: secretVersions.size });
  await discard(
    tx,
    accountId,
    dropped.map((former) => former.objectKey),
    now,
  );
  await addStorage(tx, accountId, size - dropped.reduce((sum, former) => sum + former.size, 0));
}

/** A new label, and a new ticket of the present version where one comes with it. */
export async function writeLabel(
  tx: Tx,
  { accountId }: OwnSecrets,
  { id, version, label, ticket }: { id: string; version: number; label: string; ticket: Buffer | null },
  change: number,
  now: Date,
): Promise<void> {
  await tx
    .update(secrets)
    .set({ label, updatedAt: now, change })
    .where(and(eq(secrets.accountId, accountId), eq(secrets.id, id)));
  if (ticket === null) return;
  await tx
    .update(secretVersions)
    .set({ ticket })
    .where(and(eq(secretVersions.accountId, accountId), eq(secretVersions.secretId, id), eq(secretVersions.version, version)));
}

export async function writeTrashed(tx: Tx, { accountId }: OwnSecrets, id: string, deletedAt: Date | null, change: number): Promise<void> {
  await tx
    .update(secrets)
    .set({ deletedAt, change })
    .where(and(eq(secrets.accountId, accountId), eq(secrets.id, id)));
}

export async function writeFavorite(tx: Tx, { accountId }: OwnSecrets, id: string, favorite: boolean, change: number): Promise<void> {
  await tx
    .update(secrets)
    .set({ favorite, change })
    .where(and(eq(secrets.accountId, accountId), eq(secrets.id, id)));
}
