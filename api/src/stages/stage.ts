import { hash } from "node:crypto";

import {
  encodeCanonical,
  stageExpiryHours,
  type StagedRow,
  type StageManifest,
  type StageQuery,
  type StageRowsBody,
} from "@relicario/shared/api";
import { and, asc, count, eq, gt, isNotNull, lte, ne, sql, type SQL } from "drizzle-orm";

import { lockedTransaction, withLockedAccount } from "../accounts/lock-account.ts";
import { incrementChangeCounter } from "../accounts/change-counter.ts";
import { adjustStorageUsed, octetLength, chargeStorage, quotaReserveBytes } from "../accounts/storage-used.ts";
import type { AccountScope } from "../auth/actor.ts";
import type { Tx } from "../db/database.ts";
import { secrets, secretVersions, stagedRows, stages, versionObjects } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { readKeyring, type KeyringRow } from "../keyring/queries.ts";
import { hasExpectedHeader } from "../keyring/sealed-header.ts";
import {
  createObjectKey,
  orphanObjects,
  publishObjects,
  storeObjects,
  type NewObject,
} from "../objects/orphaned-objects.ts";
import type { WrittenChange } from "../resource/resource.ts";
import { forEachAccount, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";

/*
 * [Note: Stages] Re-sealed rows are sent in any number of calls and stay hidden. A keyring change
 * switches to all of them in its transaction. It signs the digest of all rows, so that a session
 * alone, which can stage rows, cannot add to them. Each row keeps the digests of what it replaces:
 * when these have changed, the switch is refused and the row must be staged again.
 */

type RowKey = Pick<StagedRow, "secret_db_id" | "version">;

/**
 * @throws Problem `no_keyring`, `not_found`, `version_conflict`, `content_gone`,
 *   `keyring_change_invalid` for another row's label, `quota_exceeded`.
 */
export function stageRows(
  services: Services,
  scope: AccountScope,
  { stage_id: stageId, rows }: StageRowsBody,
  now: Date,
): Promise<{ stage_id: string; rows: number }> {
  const { accountId } = scope;
  const contents = new Map(
    rows.flatMap((row) => (row.content === undefined ? [] : [[row, decodeContent(scope, row, row.content)]])),
  );
  return storeObjects(services, accountId, [...contents.values()], now, () =>
    withLockedAccount(services, accountId, async (tx, account) => {
      const keyring = await readKeyring(tx, scope);
      if (keyring === null) throw new Problem("no_keyring");
      const otherStageCondition = and(eq(stages.accountId, accountId), ne(stages.id, stageId));
      let addedBytes = -(await deleteStages(tx, accountId, otherStageCondition, now));
      const expiresAt = new Date(now.getTime() + stageExpiryHours * 3_600_000);
      await tx
        .insert(stages)
        .values({ accountId, id: stageId, expiresAt })
        .onConflictDoUpdate({ target: [stages.accountId, stages.id], set: { expiresAt } });
      const publishedKeys: string[] = [];
      for (const row of rows) {
        const stagedRow = await stageRow(tx, scope, stageId, keyring, row, contents.get(row) ?? null, now);
        addedBytes += stagedRow.addedBytes;
        if (stagedRow.publishedKey !== null) publishedKeys.push(stagedRow.publishedKey);
      }
      await chargeStorage(tx, services.vendors.require(account.vendorId), account, addedBytes, quotaReserveBytes);
      const [total] = await tx.select({ rows: count() }).from(stagedRows).where(whereStage(accountId, stageId));
      return { result: { stage_id: stageId, rows: total?.rows ?? 0 }, publishedKeys };
    }),
  );
}

function decodeContent({ accountId }: AccountScope, { secret_db_id: id, version }: RowKey, content: string): NewObject {
  const bytes = Buffer.from(content, "base64url");
  const sha256 = hash("sha256", bytes, "buffer");
  return { objectKey: createObjectKey(accountId, id, version), bytes, sha256, size: bytes.length };
}

/** A row that is staged already, byte for byte, stays as it is. */
async function stageRow(
  tx: Tx,
  { accountId }: AccountScope,
  stageId: string,
  keyring: KeyringRow,
  row: StagedRow,
  content: NewObject | null,
  now: Date,
): Promise<{ addedBytes: number; publishedKey: string | null }> {
  const rowSha256 = hash("sha256", encodeCanonical(row), "buffer");
  const [previousRow] = await tx
    .select()
    .from(stagedRows)
    .where(whereStagedRow(accountId, stageId, row));
  const stagedTarget = await readStagedTarget(tx, accountId, keyring, row);
  const isUnchanged =
    previousRow?.rowSha256.equals(rowSha256) === true &&
    previousRow.baseTicketSha256.equals(stagedTarget.baseTicketSha256) &&
    areDigestsEqual(previousRow.baseLabelSha256, stagedTarget.baseLabelSha256);
  if (isUnchanged) return { addedBytes: 0, publishedKey: null };
  const freedBytes = await deleteStagedRows(tx, accountId, whereStagedRow(accountId, stageId, row), now);
  if (content !== null) await publishObjects(tx, accountId, [content.objectKey]);
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
    ...(content === null ? {} : { objectKey: content.objectKey, contentSha256: content.sha256, size: content.size }),
  });
  return {
    addedBytes: (row.label?.length ?? 0) + (ticket?.length ?? 0) + (content?.size ?? 0) - freedBytes,
    publishedKey: content?.objectKey ?? null,
  };
}

/** Digests of the row to replace, as it is now. */
async function readStagedTarget(
  tx: Tx,
  accountId: string,
  keyring: KeyringRow,
  { secret_db_id: id, version, label, ticket }: StagedRow,
): Promise<{ keyEpoch: number | null; baseLabelSha256: Buffer | null; baseTicketSha256: Buffer }> {
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
  if (label === undefined) return { keyEpoch: null, baseLabelSha256: null, baseTicketSha256: targetRow.ticketSha256 };
  const keyEpoch = [keyring.keyEpoch, keyring.keyEpoch + 1].find((epoch) =>
    hasExpectedHeader(label, { typ: "relicario-label", user_id: accountId, key_epoch: epoch, secret_id: id, version }, [
      "rev",
    ]),
  );
  if (keyEpoch === undefined) throw new Problem("keyring_change_invalid", { detail: "the label's header is wrong" });
  return {
    keyEpoch,
    baseLabelSha256: hash("sha256", targetRow.label, "buffer"),
    baseTicketSha256: targetRow.ticketSha256,
  };
}

/** A page of whole secrets; null for an unknown or expired stage. */
export async function readStageManifest(
  tx: Tx,
  { accountId }: AccountScope,
  stageId: string,
  { limit, cursor, now }: StageQuery & { readonly now: Date },
): Promise<StageManifest | null> {
  const [stage] = await tx
    .select({ id: stages.id })
    .from(stages)
    .where(and(eq(stages.accountId, accountId), eq(stages.id, stageId), gt(stages.expiresAt, now)));
  if (stage === undefined) return null;
  const pageCondition = and(
    whereStage(accountId, stageId),
    cursor === undefined ? undefined : gt(stagedRows.secretId, cursor),
  );
  const ids = await tx
    .selectDistinct({ id: stagedRows.secretId })
    .from(stagedRows)
    .where(pageCondition)
    .orderBy(asc(stagedRows.secretId))
    .limit(limit);
  const lastId = ids.at(-1)?.id;
  const rows =
    lastId === undefined ? [] : await readRowDigests(tx, and(pageCondition, lte(stagedRows.secretId, lastId)));
  return {
    stage_id: stageId,
    rows: rows.map(({ secretId, version, rowSha256 }) => ({
      secret_db_id: secretId,
      version,
      row_sha256: rowSha256.toString("base64url"),
    })),
    next_cursor: ids.length === limit && lastId !== undefined ? lastId : null,
  };
}

const readRowDigests = (tx: Tx, condition: SQL | undefined) =>
  tx
    .select({ secretId: stagedRows.secretId, version: stagedRows.version, rowSha256: stagedRows.rowSha256 })
    .from(stagedRows)
    .where(condition)
    .orderBy(asc(stagedRows.secretId), asc(stagedRows.version));

/**
 * Replaces rows by those of the stage that a change names. Former tickets and contents are not
 * kept; shares of re-sealed contents end first.
 *
 * @returns the freed bytes.
 * @throws Problem `conflict`
 */
export async function switchToStage(
  services: Pick<Services, "onContentsRemoved">,
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
  const lines = (await readRowDigests(tx, whereStage(accountId, stageId))).map(
    ({ secretId, version, rowSha256 }) => `${secretId} ${String(version)} ${rowSha256.toString("hex")}\n`,
  );
  if (hash("sha256", lines.join(""), "base64url") !== digest)
    throw new Problem("conflict", { detail: "the stage's digest is not the change's" });
  await rejectOutdatedRows(tx, accountId, stageId, change.key_epoch);
  if (change.key_epoch !== previousKeyEpoch) await rejectMissingSecrets(tx, accountId, stageId);

  const stagedCondition = sql`${stagedRows.accountId} = ${accountId} and ${stagedRows.stageId} = ${stageId}`;
  const secretJoinCondition = sql`${secrets.accountId} = ${stagedRows.accountId} and ${secrets.id} = ${stagedRows.secretId}`;
  const versionJoinCondition = sql`${secretVersions.accountId} = ${stagedRows.accountId} and ${secretVersions.secretId} = ${stagedRows.secretId} and ${secretVersions.version} = ${stagedRows.version}`;
  const versionsWithContent = sql`select ${stagedRows.secretId}, ${stagedRows.version} from ${stagedRows} where ${stagedCondition} and ${stagedRows.objectKey} is not null`;
  const [replacedBytes] = await tx
    .select({
      labels: sql<string>`coalesce(sum(${octetLength(secrets.label)}) filter (where ${stagedRows.label} is not null), 0)`,
      tickets: sql<string>`coalesce(sum(${octetLength(secretVersions.ticket)}) filter (where ${stagedRows.ticket} is not null), 0)`,
      contents: sql<string>`coalesce(sum(${secretVersions.size}) filter (where ${stagedRows.objectKey} is not null), 0)`,
    })
    .from(stagedRows)
    .innerJoin(secrets, secretJoinCondition)
    .innerJoin(secretVersions, versionJoinCondition)
    .where(stagedCondition);
  const freedShareBytes = await services.onContentsRemoved(tx, accountId, { pairs: versionsWithContent }, now);
  const objectRows = await tx
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
    objectRows.map(({ objectKey }) => objectKey),
    now,
  );
  await tx.execute(sql`insert into version_objects (account_id, secret_id, version, part, object_key, sha256)
    select account_id, secret_id, version, 1, object_key, content_sha256 from ${stagedRows} where ${stagedCondition} and object_key is not null`);
  await tx.execute(sql`update secret_versions set ticket = staged_rows.ticket, ticket_sha256 = sha256(staged_rows.ticket),
    content_sha256 = coalesce(staged_rows.content_sha256, secret_versions.content_sha256),
    size = coalesce(staged_rows.size, secret_versions.size), part_size = coalesce(staged_rows.size, secret_versions.part_size)
    from ${stagedRows} where ${stagedCondition} and ${versionJoinCondition} and ${stagedRows.ticket} is not null`);
  await tx.execute(sql`update secrets set label = staged_rows.label, size = coalesce(staged_rows.size, secrets.size), change = ${await incrementChangeCounter(tx, accountId)}
    from ${stagedRows} where ${stagedCondition} and ${secretJoinCondition} and ${stagedRows.label} is not null`);
  await tx.delete(stagedRows).where(whereStage(accountId, stageId));
  await tx.delete(stages).where(and(eq(stages.accountId, accountId), eq(stages.id, stageId)));
  return (
    Number(replacedBytes?.labels ?? 0) +
    Number(replacedBytes?.tickets ?? 0) +
    Number(replacedBytes?.contents ?? 0) +
    freedShareBytes
  );
}

/**
 * @throws Problem `conflict` when rows were sealed from something that has changed, with up to a
 *   hundred of them as the member `rows`.
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
      detail: "rows of the stage are outdated",
      members: { rows },
    });
}

/**
 * A new account key needs all labels re-sealed. @throws Problem `conflict`, with up to a hundred of
 * the missing secrets as the member `rows`
 */
async function rejectMissingSecrets(tx: Tx, accountId: string, stageId: string): Promise<void> {
  const { rows } = await tx.execute<{ secret_db_id: string; version: number }>(sql`
    select s.id as secret_db_id, s.version from secrets s where s.account_id = ${accountId} and not exists (
      select from staged_rows r where r.account_id = s.account_id and r.stage_id = ${stageId} and r.secret_id = s.id and r.label is not null)
    order by s.id limit 100`);
  if (rows.length > 0) throw new Problem("conflict", { detail: "secrets are missing in the stage", members: { rows } });
}

/** Deletes stages a day after their last row. */
export function deleteExpiredStages({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const { now } = context;
  const dueCondition = lte(stages.expiresAt, now);
  return forEachAccount(db, context, { accountId: stages.accountId, dueCondition }, (accountId) =>
    lockedTransaction(db, accountId, async (tx) => {
      const freedBytes = await deleteStages(tx, accountId, and(eq(stages.accountId, accountId), dueCondition), now);
      await adjustStorageUsed(tx, accountId, -freedBytes);
    }),
  );
}

/** @returns the freed bytes. */
async function deleteStages(tx: Tx, accountId: string, condition: SQL | undefined, now: Date): Promise<number> {
  let freedBytes = 0;
  for (const { id } of await tx.delete(stages).where(condition).returning({ id: stages.id }))
    freedBytes += await deleteStagedRows(tx, accountId, whereStage(accountId, id), now);
  return freedBytes;
}

/** Objects are deleted after the commit. @returns the freed bytes */
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

const whereStage = (accountId: string, stageId: string): SQL | undefined =>
  and(eq(stagedRows.accountId, accountId), eq(stagedRows.stageId, stageId));
const whereStagedRow = (accountId: string, stageId: string, { secret_db_id: id, version }: RowKey): SQL | undefined =>
  and(whereStage(accountId, stageId), eq(stagedRows.secretId, id), eq(stagedRows.version, version));

function areDigestsEqual(left: Buffer | null, right: Buffer | null): boolean {
  return left === null || right === null ? left === right : left.equals(right);
}
