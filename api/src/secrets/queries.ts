import { createHash } from "node:crypto";

import { formerVersionRetentionDays } from "@relicario/shared/api";
import { and, asc, between, count, desc, eq, getTableColumns, inArray, isNull } from "drizzle-orm";

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
/** Without its ticket, which is large and which nobody needs of all versions. */
export type VersionRow = Omit<typeof secretVersions.$inferSelect, "ticket">;
/** One whose content and ticket are there. */
export type VersionWithTicket = VersionRow & { readonly ticket: Buffer };

/** Hears of contents that end. */
type ContentServices = Pick<Services, "onContentsEnd">;

export interface RevisionCounters {
  readonly changes: number;
  readonly stateRev: number;
}

/** What the list's ETag carries: it changes with every row and with every state. */
export async function readCounters(db: Db | Tx, { accountId }: AccountScope): Promise<RevisionCounters> {
  const [row] = await db
    .select({ changes: accounts.changes, stateRev: keyrings.stateRev })
    .from(accounts)
    .leftJoin(keyrings, eq(keyrings.accountId, accounts.id))
    .where(eq(accounts.id, accountId));
  if (row === undefined) throw new Error("a session without its account");
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

/** All that there ever were, newest first. */
export function readVersions(db: Db | Tx, { accountId }: AccountScope, id: string): Promise<VersionRow[]> {
  const { ticket: _, ...columns } = getTableColumns(secretVersions);
  return db
    .select(columns)
    .from(secretVersions)
    .where(and(eq(secretVersions.accountId, accountId), eq(secretVersions.secretId, id)))
    .orderBy(desc(secretVersions.version));
}

/**
 * One version of a secret, the present one when none is named.
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

/** The objects `from` … `to` of a version, in order. */
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

/** An id is taken while its row is there and for ever after it was purged. */
export async function isIdTaken(tx: Db | Tx, scope: AccountScope, id: string): Promise<boolean> {
  if ((await findSecret(tx, scope, id)) !== null) return true;
  const purgedRows = await tx
    .select({ id: purgedSecrets.id })
    .from(purgedSecrets)
    .where(and(eq(purgedSecrets.accountId, scope.accountId), eq(purgedSecrets.id, id)));
  return purgedRows.length > 0;
}

/** @throws Problem `id_taken` when one of them is, see {@link isIdTaken}. */
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

const clearedTrashColumns = { deletedAt: null, dropWarnedAt: null, droppedAt: null } as const;

export interface NewVersion {
  readonly id: string;
  readonly version: number;
  readonly label: string;
  readonly ticket: Buffer;
  /** In order; all have `partSize` bytes but the last. */
  readonly objects: readonly { readonly objectKey: string; readonly sha256: Buffer }[];
  readonly partSize: number;
  readonly contentSha256: Buffer;
  readonly size: number;
}

/**
 * Version 1 makes the row; a later one takes it out of the trash, for somebody wants it kept.
 * Former versions beyond `maxVersions` give way, with their objects.
 *
 * @returns the bytes that are kept more than before, without the content's own.
 * @throws Problem `too_many_versions`
 */
export async function writeVersion(
  services: ContentServices,
  tx: Tx,
  scope: AccountScope,
  newVersion: NewVersion,
  { change, now, maxVersions: maxFormerVersions }: { change: number; now: Date; maxVersions: number },
): Promise<number> {
  const { accountId } = scope;
  const { id, version, label, ticket, objects, partSize, contentSha256, size } = newVersion;
  const displacedVersions = await findDisplacedVersions(tx, scope, id, maxFormerVersions, now);
  const labelBytes = version === 1 ? 0 : await readLabelBytes(tx, scope, id);
  if (version === 1) {
    await tx.insert(secrets).values({ accountId, id, version, label, size, createdAt: now, updatedAt: now, change });
  } else {
    await tx
      .update(secrets)
      .set({ version, label, size, updatedAt: now, ...clearedTrashColumns, change })
      .where(and(eq(secrets.accountId, accountId), eq(secrets.id, id)));
  }
  await tx.insert(secretVersions).values({
    accountId,
    secretId: id,
    version,
    ticket,
    ticketSha256: sha256(ticket),
    contentSha256,
    size,
    partSize,
    createdAt: now,
  });
  await tx.insert(versionObjects).values(
    objects.map(({ objectKey, sha256 }, index) => ({
      accountId,
      secretId: id,
      version,
      part: index + 1,
      objectKey,
      sha256,
    })),
  );
  return (
    label.length - labelBytes + ticket.length - (await dropVersions(services, tx, scope, [id], now, displacedVersions))
  );
}

/**
 * Rows of new secrets, at once. @returns the bytes that are kept more than before, without the
 * contents' own.
 */
export async function insertSecrets(
  tx: Tx,
  { accountId }: AccountScope,
  newVersions: readonly NewVersion[],
  { change, now }: { readonly change: number; readonly now: Date },
): Promise<number> {
  const values = newVersions.map(({ id, version, label, size }) => ({
    accountId,
    id,
    version,
    label,
    size,
    createdAt: now,
    updatedAt: now,
    change,
  }));
  const versions = newVersions.map(({ id, version, ticket, contentSha256, size, partSize }) => ({
    accountId,
    secretId: id,
    version,
    ticket,
    ticketSha256: sha256(ticket),
    contentSha256,
    size,
    partSize,
    createdAt: now,
  }));
  const objects = newVersions.flatMap(({ id, version, objects }) =>
    objects.map(({ objectKey, sha256 }, index) => ({
      accountId,
      secretId: id,
      version,
      part: index + 1,
      objectKey,
      sha256,
    })),
  );
  await tx.insert(secrets).values(values);
  await tx.insert(secretVersions).values(versions);
  await tx.insert(versionObjects).values(objects);
  return newVersions.reduce((sum, { label, ticket }) => sum + label.length + ticket.length, 0);
}

async function readLabelBytes(tx: Tx, { accountId }: Pick<AccountScope, "accountId">, id: string): Promise<number> {
  const [row] = await tx
    .select({ bytes: octetLength(secrets.label) })
    .from(secrets)
    .where(and(eq(secrets.accountId, accountId), eq(secrets.id, id)));
  return row?.bytes ?? 0;
}

/**
 * The oldest kept versions that go when one more is written, so that no more than `maxVersions` are
 * kept beside it. A version that was replaced less than 30 days ago never does: somebody who can
 * write, or a program gone wrong, could otherwise press everything out that was there before.
 *
 * @throws Problem `too_many_versions` when there is no room: the person removes some by a signed
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
 * Drops content and ticket of these versions of these secrets, of all versions when none are named.
 * What shows them to others ends first. Their lines stay, and their objects go after the commit.
 *
 * @returns the bytes that became free.
 */
export async function dropVersions(
  services: ContentServices,
  tx: Tx,
  { accountId }: AccountScope,
  ids: readonly string[],
  now: Date,
  versions?: readonly number[],
): Promise<number> {
  const isSelected = (table: typeof secretVersions | typeof versionObjects) =>
    and(
      eq(table.accountId, accountId),
      inArray(table.secretId, [...ids]),
      versions === undefined ? undefined : inArray(table.version, [...versions]),
    );
  const isStored = and(isSelected(secretVersions), isNull(secretVersions.droppedAt));
  const droppedVersions = await tx
    .select({ size: secretVersions.size, ticketBytes: octetLength(secretVersions.ticket) })
    .from(secretVersions)
    .where(isStored);
  if (droppedVersions.length === 0) return 0;
  const freedBytes = await services.onContentsEnd(tx, accountId, { secretIds: ids, versions }, now);
  await tx.update(secretVersions).set({ ticket: null, droppedAt: now }).where(isStored);
  const objects = await tx
    .delete(versionObjects)
    .where(isSelected(versionObjects))
    .returning({ objectKey: versionObjects.objectKey });
  await orphanObjects(
    tx,
    accountId,
    objects.map(({ objectKey }) => objectKey),
    now,
  );
  return droppedVersions.reduce((sum, { size, ticketBytes }) => sum + size + ticketBytes, freedBytes);
}

/**
 * Deletes all versions of secrets that go for good, lines included. @returns the bytes that became
 * free.
 */
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
 * A new label, and a new ticket of the present version where one comes with it.
 *
 * @returns the bytes that are kept more than before.
 * @throws Problem `content_gone` for a ticket whose content was dropped.
 */
export async function writeLabel(
  tx: Tx,
  { accountId }: AccountScope,
  { id, version, label, ticket }: { id: string; version: number; label: string; ticket: Buffer | null },
  change: number,
  now: Date,
): Promise<number> {
  const addedBytes = label.length - (await readLabelBytes(tx, { accountId }, id));
  await tx
    .update(secrets)
    .set({ label, updatedAt: now, change })
    .where(and(eq(secrets.accountId, accountId), eq(secrets.id, id)));
  if (ticket === null) return addedBytes;
  const isPresentVersion = and(
    eq(secretVersions.accountId, accountId),
    eq(secretVersions.secretId, id),
    eq(secretVersions.version, version),
    isNull(secretVersions.droppedAt),
  );
  const [previousTicket] = await tx
    .select({ bytes: octetLength(secretVersions.ticket) })
    .from(secretVersions)
    .where(isPresentVersion);
  if (previousTicket === undefined) throw new Problem("content_gone");
  await tx
    .update(secretVersions)
    .set({ ticket, ticketSha256: sha256(ticket) })
    .where(isPresentVersion);
  return addedBytes + ticket.length - previousTicket.bytes;
}

export async function markTrashed(
  tx: Tx,
  { accountId }: AccountScope,
  id: string,
  deletedAt: Date,
  change: number,
): Promise<void> {
  await tx
    .update(secrets)
    .set({ deletedAt, change })
    .where(and(eq(secrets.accountId, accountId), eq(secrets.id, id)));
}

export async function markRestored(tx: Tx, { accountId }: AccountScope, id: string, change: number): Promise<void> {
  await tx
    .update(secrets)
    .set({ ...clearedTrashColumns, change })
    .where(and(eq(secrets.accountId, accountId), eq(secrets.id, id)));
}

export async function writeFavorite(
  tx: Tx,
  { accountId }: AccountScope,
  id: string,
  favorite: boolean,
  change: number,
): Promise<void> {
  await tx
    .update(secrets)
    .set({ favorite, change })
    .where(and(eq(secrets.accountId, accountId), eq(secrets.id, id)));
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}
