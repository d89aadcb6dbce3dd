import { createHash, randomBytes } from "node:crypto";

import {
  encodeCanonical,
  maxListPageSize,
  stageExpiryHours,
  type StagedRow,
  type StageManifest,
  type StageRowsBody,
} from "@relicario/shared/api";
import { and, asc, count, eq, gt, isNotNull, lte, ne, sql, type SQL } from "drizzle-orm";

import { withLockedAccount, lockAccount } from "../accounts/lock-account.ts";
import { incrementChangeCounter } from "../accounts/next-change.ts";
import { adjustStorageUsed, octetLength, chargeStorage, quotaReserveBytes } from "../accounts/storage-used.ts";
import type { AccountScope } from "../auth/actor.ts";
import type { Tx } from "../db/database.ts";
import { secrets, secretVersions, stagedRows, stages, versionObjects } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { readKeyring, type KeyringRow } from "../keyring/queries.ts";
import { hasExpectedHeader } from "../keyring/sealed-header.ts";
import { discardObject, reserveObject, orphanObjects, publishObject } from "../objects/orphaned-objects.ts";
import type { WrittenChange } from "../resource/resource.ts";
import { forEachAccount, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";

/*
 * [Note: Stages] Rows sealed anew come in any number of calls and show nowhere. A keyring change
 * switches to all of them in its own transaction. It signs the digest of all rows, so that a
 * session alone, which can stage, adds nothing to what is switched to. A row remembers what it was
 * sealed from: when that changed meanwhile, the switch is refused and the row staged anew.
 */

type RowKey = Pick<StagedRow, "secret_db_id" | "version">;

/**
 * @throws Problem `no_keyring`, `not_found`, `version_conflict`, `content_gone`,
 *   `keyring_change_invalid` for a label of another row, `quota_exceeded`.
 */
export async function stageRows(
  services: Services,
  scope: AccountScope,
  { stage_id: stageId, rows }: StageRowsBody,
  now: Date,
): Promise<{ stage_id: string; rows: number }> {
  const { db, objects, vendors } = services;
  const reservedKeys = new Set<string>();
  const publishedKeys = new Set<string>();
  const discardUnpublished = async (): Promise<void> => {
    for (const key of reservedKeys) if (!publishedKeys.has(key)) await discardObject(db, objects, scope.accountId, key);
  };
  const storeContent = async ({ secret_db_id: id, version, content }: StagedRow): Promise<StagedContent | null> => {
    if (content === undefined) return null;
    const bytes = Buffer.from(content, "base64url");
    const objectKey = `${scope.accountId}/${id}/${String(version)}-${randomBytes(12).toString("base64url")}`;
    await reserveObject(db, scope.accountId, objectKey, now);
    reservedKeys.add(objectKey);
    await objects.put(objectKey, bytes);
    return { objectKey, contentSha256: sha256(bytes), size: bytes.length };
  };
  try {
    const rowsWithContent: { row: StagedRow; content: StagedContent | null }[] = [];
    for (const row of rows) rowsWithContent.push({ row, content: await storeContent(row) });
    const result = await withLockedAccount(services, scope.accountId, async (tx, account) => {
      const keyring = await readKeyring(tx, scope);
      if (keyring === null) throw new Problem("no_keyring");
      let addedBytes = -(await deleteStages(
        tx,
        scope.accountId,
        and(eq(stages.accountId, scope.accountId), ne(stages.id, stageId)),
        now,
      ));
      const expiresAt = new Date(now.getTime() + stageExpiryHours * 3_600_000);
      await tx
        .insert(stages)
        .values({ accountId: scope.accountId, id: stageId, expiresAt })
        .onConflictDoUpdate({ target: [stages.accountId, stages.id], set: { expiresAt } });
      for (const { row, content } of rowsWithContent) {
        const stagedRow = await stageRow(tx, scope, stageId, keyring, row, content, now);
        addedBytes += stagedRow.addedBytes;
        if (stagedRow.publishedKey !== null) publishedKeys.add(stagedRow.publishedKey);
      }
      await chargeStorage(tx, vendors.require(account.vendorId), account, addedBytes, quotaReserveBytes);
      const [total] = await tx.select({ rows: count() }).from(stagedRows).where(isOfStage(scope.accountId, stageId));
      return { stage_id: stageId, rows: total?.rows ?? 0 };
    });
    await discardUnpublished();
    return result;
  } catch (error) {
    publishedKeys.clear();
    // After any other failure the commit may have taken place: then what is orphaned is collected
    // in a
    // day.
    if (error instanceof Problem) await discardUnpublished();
    throw error;
  }
}

interface StagedContent {
  readonly objectKey: string;
  readonly contentSha256: Buffer;
  readonly size: number;
}

/** A row that came before, byte for byte, stays as it is. */
async function stageRow(
  tx: Tx,
  { accountId }: AccountScope,
  stageId: string,
  keyring: KeyringRow,
  row: StagedRow,
  content: StagedContent | null,
  now: Date,
): Promise<{ addedBytes: number; publishedKey: string | null }> {
  const rowSha256 = sha256(encodeCanonical(row));
  const [previousRow] = await tx
    .select()
    .from(stagedRows)
    .where(isStagedRow(accountId, stageId, row));
  const stagedTarget = await readStagedTarget(tx, accountId, keyring, row);
  const isUnchanged =
    previousRow?.rowSha256.equals(rowSha256) === true &&
    previousRow.beforeTicketSha256.equals(stagedTarget.beforeTicketSha256) &&
    areDigestsEqual(previousRow.beforeLabelSha256, stagedTarget.beforeLabelSha256);
  if (isUnchanged) return { addedBytes: 0, publishedKey: null };
  const freedBytes = await deleteStagedRows(tx, accountId, isStagedRow(accountId, stageId, row), now);
  if (content !== null) await publishObject(tx, accountId, content.objectKey);
  const ticket = row.ticket === undefined ? null : Buffer.from(row.ticket, "base64url");
  await tx.insert(stagedRows).values({
    accountId,
    stageId,
    secretId: row.secret_db_id,
    version: row.version,
    rowSha256,
    label: row.label ?? null,
    ticket,
    ...stagedTarget,
    ...content,
  });
  return {
    addedBytes: (row.label?.length ?? 0) + (ticket?.length ?? 0) + (content?.size ?? 0) - freedBytes,
    publishedKey: content?.objectKey ?? null,
  };
}

/** What a row stands for, as it is now. */
async function readStagedTarget(
  tx: Tx,
  accountId: string,
  keyring: KeyringRow,
  { secret_db_id: id, version, label, ticket }: StagedRow,
): Promise<{ keyEpoch: number | null; beforeLabelSha256: Buffer | null; beforeTicketSha256: Buffer }> {
  const [targetRow] = await tx
    .select({
      currentVersion: secrets.version,
      label: secrets.label,
      ticketSha256: secretVersions.ticketSha256,
      droppedAt: secretVersions.droppedAt,
    })
    .from(secrets)
    .innerJoin(
      secretVersions,
      and(
        eq(secretVersions.accountId, secrets.accountId),
        eq(secretVersions.secretId, secrets.id),
        eq(secretVersions.version, version),
      ),
    )
    .where(and(eq(secrets.accountId, accountId), eq(secrets.id, id)));
  if (targetRow === undefined) throw new Problem("not_found");
  if ((targetRow.currentVersion === version) !== (label !== undefined))
    throw new Problem("version_conflict", { members: { version: targetRow.currentVersion } });
  if (ticket !== undefined && targetRow.droppedAt !== null) throw new Problem("content_gone");
  if (label === undefined)
    return { keyEpoch: null, beforeLabelSha256: null, beforeTicketSha256: targetRow.ticketSha256 };
  const keyEpoch = [keyring.keyEpoch, keyring.keyEpoch + 1].find((epoch) =>
    hasExpectedHeader(label, { typ: "relicario-label", user_id: accountId, key_epoch: epoch, secret_id: id, version }, [
      "rev",
    ]),
  );
  if (keyEpoch === undefined)
    throw new Problem("keyring_change_invalid", { detail: "the label's header does not fit" });
  return {
    keyEpoch,
    beforeLabelSha256: sha256(Buffer.from(targetRow.label)),
    beforeTicketSha256: targetRow.ticketSha256,
  };
}

/** A page of whole secrets; null for a stage that is not there, or over. */
export async function readStageManifest(
  tx: Tx,
  { accountId }: AccountScope,
  stageId: string,
  { cursor, now }: { readonly cursor: string | undefined; readonly now: Date },
): Promise<StageManifest | null> {
  const [stage] = await tx
    .select({ id: stages.id })
    .from(stages)
    .where(and(eq(stages.accountId, accountId), eq(stages.id, stageId), gt(stages.expiresAt, now)));
  if (stage === undefined) return null;
  const isAfterCursor = and(
    isOfStage(accountId, stageId),
    cursor === undefined ? undefined : gt(stagedRows.secretId, cursor),
  );
  const ids = await tx
    .selectDistinct({ id: stagedRows.secretId })
    .from(stagedRows)
    .where(isAfterCursor)
    .orderBy(asc(stagedRows.secretId))
    .limit(secretsPerPage);
  const lastId = ids.at(-1)?.id;
  const rows =
    lastId === undefined ? [] : await readRowDigests(tx, and(isAfterCursor, lte(stagedRows.secretId, lastId)));
  return {
    stage_id: stageId,
    rows: rows.map(({ secretId, version, rowSha256 }) => ({
      secret_db_id: secretId,
      version,
      row_sha256: rowSha256.toString("base64url"),
    })),
    next_cursor: ids.length === secretsPerPage && lastId !== undefined ? lastId : null,
  };
}

/** Each has so many versions at most that a page stays below a megabyte. */
const secretsPerPage = maxListPageSize / 10;

const readRowDigests = (tx: Tx, condition: SQL | undefined) =>
  tx
    .select({ secretId: stagedRows.secretId, version: stagedRows.version, rowSha256: stagedRows.rowSha256 })
    .from(stagedRows)
    .where(condition)
    .orderBy(asc(stagedRows.secretId), asc(stagedRows.version));

/**
 * Puts the rows of the stage that a change names in the place of what they were sealed from.
 * Tickets and contents before them are kept nowhere, and what shows a version whose content
 * was sealed anew to others ends first.
 *
 * @returns the bytes that became free.
 * @throws Problem `conflict`
 */
export async function switchToStage(
  services: Pick<Services, "onContentsEnd">,
  tx: Tx,
  { accountId, previousKeyEpoch, change, now }: WrittenChange,
): Promise<number> {
  const { stage_id: stageId, stage_sha256: digest } = change;
  if (stageId === undefined || digest === undefined) return 0;
  const [stage] = await tx
    .select({ expiresAt: stages.expiresAt })
    .from(stages)
    .where(and(eq(stages.accountId, accountId), eq(stages.id, stageId)));
  if (stage === undefined || stage.expiresAt <= now)
    throw new Problem("conflict", { detail: "there is no such stage" });
  const lines = (await readRowDigests(tx, isOfStage(accountId, stageId))).map(
    ({ secretId, version, rowSha256 }) => `${secretId} ${String(version)} ${rowSha256.toString("hex")}\n`,
  );
  if (sha256(Buffer.from(lines.join(""), "ascii")).toString("base64url") !== digest)
    throw new Problem("conflict", { detail: "the stage has other rows than the change says" });
  await rejectOutdatedRows(tx, accountId, stageId, change.key_epoch);
  if (change.key_epoch !== previousKeyEpoch) await rejectMissingSecrets(tx, accountId, stageId);

  const isStaged = sql`${stagedRows.accountId} = ${accountId} and ${stagedRows.stageId} = ${stageId}`;
  const isSecretOfRow = sql`${secrets.accountId} = ${stagedRows.accountId} and ${secrets.id} = ${stagedRows.secretId}`;
  const isVersionOfRow = sql`${secretVersions.accountId} = ${stagedRows.accountId} and ${secretVersions.secretId} = ${stagedRows.secretId} and ${secretVersions.version} = ${stagedRows.version}`;
  const versionsWithContent = sql`select ${stagedRows.secretId}, ${stagedRows.version} from ${stagedRows} where ${isStaged} and ${stagedRows.objectKey} is not null`;
  const [replacedBytes] = await tx
    .select({
      labels: sql<string>`coalesce(sum(${octetLength(secrets.label)}) filter (where ${stagedRows.label} is not null), 0)`,
      tickets: sql<string>`coalesce(sum(${octetLength(secretVersions.ticket)}) filter (where ${stagedRows.ticket} is not null), 0)`,
      contents: sql<string>`coalesce(sum(${secretVersions.size}) filter (where ${stagedRows.objectKey} is not null), 0)`,
    })
    .from(stagedRows)
    .innerJoin(secrets, isSecretOfRow)
    .innerJoin(secretVersions, isVersionOfRow)
    .where(isStaged);
  const endedBytes = await services.onContentsEnd(tx, accountId, { pairs: versionsWithContent }, now);
  const deleted = await tx
    .delete(versionObjects)
    .where(
      and(
        eq(versionObjects.accountId, accountId),
        sql`(${versionObjects.secretId}, ${versionObjects.version}) in (${versionsWithContent})`,
      ),
    )
    .returning({ objectKey: versionObjects.objectKey });
  await orphanObjects(
    tx,
    accountId,
    deleted.map(({ objectKey }) => objectKey),
    now,
  );
  await tx.execute(sql`insert into version_objects (account_id, secret_id, version, part, object_key, sha256)
    select account_id, secret_id, version, 1, object_key, content_sha256 from ${stagedRows} where ${isStaged} and object_key is not null`);
  await tx.execute(sql`update secret_versions set ticket = staged_rows.ticket, ticket_sha256 = sha256(staged_rows.ticket),
    content_sha256 = coalesce(staged_rows.content_sha256, secret_versions.content_sha256),
    size = coalesce(staged_rows.size, secret_versions.size), part_size = coalesce(staged_rows.size, secret_versions.part_size)
    from ${stagedRows} where ${isStaged} and ${isVersionOfRow} and ${stagedRows.ticket} is not null`);
  await tx.execute(sql`update secrets set label = staged_rows.label, size = coalesce(staged_rows.size, secrets.size), change = ${await incrementChangeCounter(tx, accountId)}
    from ${stagedRows} where ${isStaged} and ${isSecretOfRow} and ${stagedRows.label} is not null`);
  await tx.delete(stagedRows).where(isOfStage(accountId, stageId));
  await tx.delete(stages).where(and(eq(stages.accountId, accountId), eq(stages.id, stageId)));
  return (
    Number(replacedBytes?.labels ?? 0) +
    Number(replacedBytes?.tickets ?? 0) +
    Number(replacedBytes?.contents ?? 0) +
    endedBytes
  );
}

/**
 * @throws Problem `conflict`, with those rows (a hundred at most) as the member `rows`, when they
 *   were sealed from something that changed.
 */
async function rejectOutdatedRows(tx: Tx, accountId: string, stageId: string, epoch: number): Promise<void> {
  const { rows } = await tx.execute<{ secret_db_id: string; version: number }>(sql`
    select r.secret_id as secret_db_id, r.version from staged_rows r
    left join secrets s on s.account_id = r.account_id and s.id = r.secret_id
    left join secret_versions v on v.account_id = r.account_id and v.secret_id = r.secret_id and v.version = r.version
    where r.account_id = ${accountId} and r.stage_id = ${stageId} and (
      s.id is null or v.version is null or v.ticket_sha256 <> r.before_ticket_sha256
      or (r.ticket is not null and v.dropped_at is not null)
      or (r.label is not null and (s.version <> r.version or r.key_epoch <> ${epoch} or sha256(convert_to(s.label, 'UTF8')) <> r.before_label_sha256))
      or (r.label is null and not exists (
        select from staged_rows o where o.account_id = r.account_id and o.stage_id = r.stage_id and o.secret_id = r.secret_id and o.label is not null)))
    order by r.secret_id, r.version limit 100`);
  if (rows.length > 0)
    throw new Problem("conflict", {
      detail: "rows of the stage were sealed from something that changed",
      members: { rows },
    });
}

/**
 * With a new account key no label of the one before may stay. @throws Problem `conflict`, with a
 * hundred of these secrets at most as the member `rows`.
 */
async function rejectMissingSecrets(tx: Tx, accountId: string, stageId: string): Promise<void> {
  const { rows } = await tx.execute<{ secret_db_id: string; version: number }>(sql`
    select s.id as secret_db_id, s.version from secrets s where s.account_id = ${accountId} and not exists (
      select from staged_rows r where r.account_id = s.account_id and r.stage_id = ${stageId} and r.secret_id = s.id and r.label is not null)
    order by s.id limit 100`);
  if (rows.length > 0) throw new Problem("conflict", { detail: "secrets are missing in the stage", members: { rows } });
}

/** Stages without a new row for a day. */
export function deleteExpiredStages({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const { now } = context;
  const isDue = lte(stages.expiresAt, now);
  return forEachAccount(db, context, { accountId: stages.accountId, due: isDue }, (accountId) =>
    db.transaction(async (tx) => {
      await lockAccount(tx, accountId);
      const freedBytes = await deleteStages(tx, accountId, and(eq(stages.accountId, accountId), isDue), now);
      await adjustStorageUsed(tx, accountId, -freedBytes);
    }),
  );
}

/** @returns the bytes that became free. */
async function deleteStages(tx: Tx, accountId: string, condition: SQL | undefined, now: Date): Promise<number> {
  let freedBytes = 0;
  for (const { id } of await tx.delete(stages).where(condition).returning({ id: stages.id }))
    freedBytes += await deleteStagedRows(tx, accountId, isOfStage(accountId, id), now);
  return freedBytes;
}

/** Their objects go after the commit. @returns the bytes that became free. */
async function deleteStagedRows(tx: Tx, accountId: string, condition: SQL | undefined, now: Date): Promise<number> {
  const objectRows = await tx
    .select({ objectKey: stagedRows.objectKey })
    .from(stagedRows)
    .where(and(condition, isNotNull(stagedRows.objectKey)));
  const deletedRows = await tx
    .delete(stagedRows)
    .where(condition)
    .returning({
      bytes: sql<string>`coalesce(octet_length(${stagedRows.label}), 0) + coalesce(octet_length(${stagedRows.ticket}), 0) + coalesce(${stagedRows.size}, 0)`,
    });
  await orphanObjects(
    tx,
    accountId,
    objectRows.flatMap(({ objectKey }) => (objectKey === null ? [] : [objectKey])),
    now,
  );
  return deletedRows.reduce((sum, row) => sum + Number(row.bytes), 0);
}

const isOfStage = (accountId: string, stageId: string): SQL | undefined =>
  and(eq(stagedRows.accountId, accountId), eq(stagedRows.stageId, stageId));
const isStagedRow = (accountId: string, stageId: string, { secret_db_id: id, version }: RowKey): SQL | undefined =>
  and(isOfStage(accountId, stageId), eq(stagedRows.secretId, id), eq(stagedRows.version, version));

function areDigestsEqual(left: Buffer | null, right: Buffer | null): boolean {
  return left === null || right === null ? left === right : left.equals(right);
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}
