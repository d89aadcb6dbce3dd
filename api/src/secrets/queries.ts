import { hash } from "node:crypto";

import { formerVersionRetentionDays, type VersionQuery } from "@relicario/shared/api";
import { and, asc, between, count, desc, eq, getTableColumns, inArray, isNull, lt } from "drizzle-orm";

import { octetLength } from "../accounts/storage-used.ts";
import type { AccountScope } from "../auth/actor.ts";
import type { Db, Tx } from "../db/database.ts";
import { accounts, keyrings, purgedSecrets, secrets, secretVersions, versionObjects } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { orphanObjects } from "../objects/orphaned-objects.ts";
import type { StoredObject } from "../objects/verified-object.ts";
import type { Services } from "../services/services.ts";
import { getObjectSize } from "./content.ts";

export type SecretRow = typeof secrets.$inferSelect;
/** Without the ticket, which is large and rarely needed. */
export type VersionRow = Omit<typeof secretVersions.$inferSelect, "ticket">;
/** A version whose content and ticket are stored. */
export type VersionWithTicket = VersionRow & { readonly ticket: Buffer };

/** Services that hear of removed contents. */
type ContentServices = Pick<Services, "onContentsRemoved">;

export interface RevisionCounters {
  readonly changes: number;
  readonly stateRev: number;
}

/** The counters of the list's ETag: one changes with every row, one with every state. */
export async function readCounters(db: Db | Tx, { accountId }: AccountScope): Promise<RevisionCounters> {
  const [row] = await db
    .select({ changes: accounts.changes, stateRev: keyrings.stateRev })
    .from(accounts)
    .leftJoin(keyrings, eq(keyrings.accountId, accounts.id))
    .where(eq(accounts.id, accountId));
  if (row === undefined) throw new Error("the session's account does not exist");
  return { changes: row.changes, stateRev: row.stateRev ?? 0 };
}

export async function findSecret(db: Db | Tx, { accountId }: AccountScope, id: string): Promise<SecretRow | null> {
  const [row] = await db
    .select()
    .from(secrets)
    .where(and(eq(secrets.accountId, accountId), eq(secrets.id, id)));
  return row ?? null;
}

export async function countSecrets(db: Db | Tx, { accountId }: AccountScope): Promise<number> {
  const [total] = await db.select({ rows: count() }).from(secrets).where(eq(secrets.accountId, accountId));
  return total?.rows ?? 0;
}

/**
 * A page of all versions, dropped ones included, newest first; one row more where another page
 * follows.
 */
export function readVersions(
  db: Db | Tx,
  { accountId }: AccountScope,
  id: string,
  { limit, cursor }: VersionQuery,
): Promise<VersionRow[]> {
  const { ticket: _, ...columns } = getTableColumns(secretVersions);
  return db
    .select(columns)
    .from(secretVersions)
    .where(
      and(
        eq(secretVersions.accountId, accountId),
        eq(secretVersions.secretId, id),
        cursor === undefined ? undefined : lt(secretVersions.version, Number(cursor)),
      ),
    )
    .orderBy(desc(secretVersions.version))
    .limit(limit + 1);
}

/**
 * A version of a secret, the current one by default.
 *
 * @throws Problem `not_found`, `content_gone`
 */
export async function findVersion(
  db: Db | Tx,
  scope: AccountScope,
  id: string,
  version: number | undefined,
): Promise<{ row: SecretRow; storedVersion: VersionWithTicket }> {
  const row = await findSecret(db, scope, id);
  if (row === null) throw new Problem("not_found");
  if (row.droppedAt !== null) throw new Problem("content_gone");
  const [storedVersion] = await db
    .select()
    .from(secretVersions)
    .where(
      and(
        eq(secretVersions.accountId, scope.accountId),
        eq(secretVersions.secretId, id),
        eq(secretVersions.version, version ?? row.version),
      ),
    );
  if (storedVersion === undefined) throw new Problem("not_found");
  const { ticket } = storedVersion;
  if (ticket === null) throw new Problem("content_gone");
  return { row, storedVersion: { ...storedVersion, ticket } };
}

/** The objects `from` to `to` (inclusive, from 1) of a version. */
export async function readObjects(
  db: Db | Tx,
  { accountId }: AccountScope,
  storedVersion: VersionRow,
  from: number,
  to: number,
): Promise<StoredObject[]> {
  const { secretId, version } = storedVersion;
  const rows = await db
    .select({ part: versionObjects.part, key: versionObjects.objectKey, sha256: versionObjects.sha256 })
    .from(versionObjects)
    .where(
      and(
        eq(versionObjects.accountId, accountId),
        eq(versionObjects.secretId, secretId),
        eq(versionObjects.version, version),
        between(versionObjects.part, from, to),
      ),
    )
    .orderBy(asc(versionObjects.part));
  return rows.map(({ part, key, sha256 }) => ({ key, size: getObjectSize(storedVersion, part), sha256 }));
}

/** Whether a secret has the id, or a purged one had it. */
export async function isIdTaken(tx: Db | Tx, scope: AccountScope, id: string): Promise<boolean> {
  if ((await findSecret(tx, scope, id)) !== null) return true;
  const purgedRows = await tx
    .select({ id: purgedSecrets.id })
    .from(purgedSecrets)
    .where(and(eq(purgedSecrets.accountId, scope.accountId), eq(purgedSecrets.id, id)));
  return purgedRows.length > 0;
}

/** @throws Problem `id_taken`, see {@link isIdTaken}. */
export async function rejectTakenIds(tx: Tx, { accountId }: AccountScope, ids: readonly string[]): Promise<void> {
  for (const table of [secrets, purgedSecrets]) {
    const takenIds = await tx
      .select({ id: table.id })
      .from(table)
      .where(and(eq(table.accountId, accountId), inArray(table.id, [...ids])))
      .limit(1);
    if (takenIds.length > 0) throw new Problem("id_taken");
  }
}

const clearedTrashColumns = { deletedAt: null, trashConfirmedAt: null, dropWarnedAt: null, droppedAt: null } as const;

export interface NewVersion {
  readonly id: string;
  readonly version: number;
  readonly label: string;
  readonly ticket: Buffer;
  /** Each has `partSize` bytes, the last one fewer. */
  readonly objects: readonly { readonly objectKey: string; readonly sha256: Buffer }[];
  readonly partSize: number;
  readonly contentSha256: Buffer;
  readonly size: number;
}

/**
 * Inserts version 1, or updates the secret and restores it from the trash. Former versions beyond
 * `maxFormerVersions` are dropped.
 *
 * @returns the added bytes, without the content.
 * @throws Problem `too_many_versions`
 */
export async function writeVersion(
  services: ContentServices,
  tx: Tx,
  scope: AccountScope,
  newVersion: NewVersion,
  { changeNumber, now, maxFormerVersions }: { changeNumber: number; now: Date; maxFormerVersions: number },
): Promise<number> {
  const { accountId } = scope;
  const { id, version, label, ticket, size } = newVersion;
  const displacedVersions = await findDisplacedVersions(tx, scope, id, maxFormerVersions, now);
  const labelBytes = version === 1 ? 0 : await readLabelBytes(tx, scope, id);
  if (version === 1) {
    await insertSecrets(tx, scope, [newVersion], { changeNumber, now });
  } else {
    await tx
      .update(secrets)
      .set({ version, label, size, updatedAt: now, ...clearedTrashColumns, changeNumber })
      .where(and(eq(secrets.accountId, accountId), eq(secrets.id, id)));
    await insertVersions(tx, accountId, [newVersion], now);
  }
  return (
    label.length - labelBytes + ticket.length - (await dropVersions(services, tx, scope, [id], now, displacedVersions))
  );
}

/**
 * Inserts new secrets in one statement per table. @returns the added bytes, without the contents
 */
export async function insertSecrets(
  tx: Tx,
  { accountId }: AccountScope,
  newVersions: readonly NewVersion[],
  { changeNumber, now }: { readonly changeNumber: number; readonly now: Date },
): Promise<number> {
  const values = newVersions.map(({ id, version, label, size }) => ({
    accountId,
    id,
    version,
    label,
    size,
    createdAt: now,
    updatedAt: now,
    changeNumber,
  }));
  await tx.insert(secrets).values(values);
  await insertVersions(tx, accountId, newVersions, now);
  return newVersions.reduce((sum, { label, ticket }) => sum + label.length + ticket.length, 0);
}

async function insertVersions(tx: Tx, accountId: string, newVersions: readonly NewVersion[], now: Date): Promise<void> {
  await tx.insert(secretVersions).values(
    newVersions.map(({ id, version, ticket, contentSha256, size, partSize }) => ({
      accountId,
      secretId: id,
      version,
      ticket,
      ticketSha256: hash("sha256", ticket, "buffer"),
      contentSha256,
      size,
      partSize,
      createdAt: now,
    })),
  );
  await tx.insert(versionObjects).values(
    newVersions.flatMap(({ id, version, objects }) =>
      objects.map(({ objectKey, sha256 }, index) => ({
        accountId,
        secretId: id,
        version,
        part: index + 1,
        objectKey,
        sha256,
      })),
    ),
  );
}

async function readLabelBytes(tx: Tx, { accountId }: Pick<AccountScope, "accountId">, id: string): Promise<number> {
  const [row] = await tx
    .select({ bytes: octetLength(secrets.label) })
    .from(secrets)
    .where(and(eq(secrets.accountId, accountId), eq(secrets.id, id)));
  return row?.bytes ?? 0;
}

/**
 * The oldest versions to drop when another one is written, so that `maxFormerVersions` remain.
 * Never one that was replaced less than 30 days ago: otherwise an attacker with write access, or a
 * faulty client, could push out all earlier versions.
 *
 * @throws Problem `too_many_versions` when all are that recent: the person removes some by a signed
 *   change.
 */
export async function findDisplacedVersions(
  tx: Tx,
  { accountId }: AccountScope,
  id: string,
  maxFormerVersions: number,
  now: Date,
): Promise<number[]> {
  const rows = await tx
    .select({
      version: secretVersions.version,
      createdAt: secretVersions.createdAt,
      droppedAt: secretVersions.droppedAt,
    })
    .from(secretVersions)
    .where(and(eq(secretVersions.accountId, accountId), eq(secretVersions.secretId, id)))
    .orderBy(asc(secretVersions.version));
  const storedVersions = rows.filter(({ droppedAt }) => droppedAt === null);
  const displacedVersions = storedVersions
    .slice(0, Math.max(0, storedVersions.length - maxFormerVersions))
    .map(({ version }) => version);
  const replacedAt = new Map(rows.map(({ version, createdAt }) => [version - 1, createdAt]));
  const cutoff = new Date(now.getTime() - formerVersionRetentionDays * 86_400_000);
  if (displacedVersions.some((version) => (replacedAt.get(version) ?? now) > cutoff))
    throw new Problem("too_many_versions", { members: { limit: maxFormerVersions } });
  return displacedVersions;
}

/**
 * Drops content and ticket of these versions, or of all. Ends their shares first. The rows stay;
 * objects are deleted after the commit.
 *
 * @returns the freed bytes.
 */
export async function dropVersions(
  services: ContentServices,
  tx: Tx,
  { accountId }: AccountScope,
  ids: readonly string[],
  now: Date,
  versions?: readonly number[],
): Promise<number> {
  const whereSelected = (table: typeof secretVersions | typeof versionObjects) =>
    and(
      eq(table.accountId, accountId),
      inArray(table.secretId, [...ids]),
      versions === undefined ? undefined : inArray(table.version, [...versions]),
    );
  const storedCondition = and(whereSelected(secretVersions), isNull(secretVersions.droppedAt));
  const droppedVersions = await tx
    .select({ size: secretVersions.size, ticketBytes: octetLength(secretVersions.ticket) })
    .from(secretVersions)
    .where(storedCondition);
  if (droppedVersions.length === 0) return 0;
  const freedBytes = await services.onContentsRemoved(tx, accountId, { secretIds: ids, versions }, now);
  await tx.update(secretVersions).set({ ticket: null, droppedAt: now }).where(storedCondition);
  const objects = await tx
    .delete(versionObjects)
    .where(whereSelected(versionObjects))
    .returning({ objectKey: versionObjects.objectKey });
  await orphanObjects(
    tx,
    accountId,
    objects.map(({ objectKey }) => objectKey),
    now,
  );
  return droppedVersions.reduce((sum, { size, ticketBytes }) => sum + size + ticketBytes, freedBytes);
}

/** Deletes all versions of secrets, rows included. @returns the freed bytes */
export async function deleteVersions(
  services: ContentServices,
  tx: Tx,
  scope: AccountScope,
  ids: readonly string[],
  now: Date,
): Promise<number> {
  const freedBytes = await dropVersions(services, tx, scope, ids, now);
  await tx
    .delete(secretVersions)
    .where(and(eq(secretVersions.accountId, scope.accountId), inArray(secretVersions.secretId, [...ids])));
  return freedBytes;
}

/**
 * Writes a label, and the current version's ticket if given.
 *
 * @returns the added bytes.
 * @throws Problem `content_gone` for a ticket of a dropped content.
 */
export async function writeLabel(
  tx: Tx,
  { accountId }: AccountScope,
  { id, version, label, ticket }: { id: string; version: number; label: string; ticket: Buffer | null },
  changeNumber: number,
  now: Date,
): Promise<number> {
  const addedBytes = label.length - (await readLabelBytes(tx, { accountId }, id));
  await tx
    .update(secrets)
    .set({ label, updatedAt: now, changeNumber })
    .where(and(eq(secrets.accountId, accountId), eq(secrets.id, id)));
  if (ticket === null) return addedBytes;
  const currentVersionCondition = and(
    eq(secretVersions.accountId, accountId),
    eq(secretVersions.secretId, id),
    eq(secretVersions.version, version),
    isNull(secretVersions.droppedAt),
  );
  const [previousTicket] = await tx
    .select({ bytes: octetLength(secretVersions.ticket) })
    .from(secretVersions)
    .where(currentVersionCondition);
  if (previousTicket === undefined) throw new Problem("content_gone");
  await tx
    .update(secretVersions)
    .set({ ticket, ticketSha256: hash("sha256", ticket, "buffer") })
    .where(currentVersionCondition);
  return addedBytes + ticket.length - previousTicket.bytes;
}

export async function markTrashed(
  tx: Tx,
  { accountId }: AccountScope,
  id: string,
  deletedAt: Date,
  changeNumber: number,
): Promise<void> {
  await tx
    .update(secrets)
    .set({ deletedAt, changeNumber })
    .where(and(eq(secrets.accountId, accountId), eq(secrets.id, id)));
}

export async function markRestored(
  tx: Tx,
  { accountId }: AccountScope,
  id: string,
  changeNumber: number,
): Promise<void> {
  await tx
    .update(secrets)
    .set({ ...clearedTrashColumns, changeNumber })
    .where(and(eq(secrets.accountId, accountId), eq(secrets.id, id)));
}

export async function writeFavorite(
  tx: Tx,
  { accountId }: AccountScope,
  id: string,
  favorite: boolean,
  changeNumber: number,
): Promise<void> {
  await tx
    .update(secrets)
    .set({ favorite, changeNumber })
    .where(and(eq(secrets.accountId, accountId), eq(secrets.id, id)));
}
