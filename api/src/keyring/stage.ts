import { createHash, randomBytes } from "node:crypto";

import {
  canonicalBytes,
  maxListPage,
  stageHours,
  type KeyringChange,
  type StagedRow,
  type StagedRows,
  type StageRows,
} from "@relicario/shared/api";
import { and, asc, count, eq, gt, isNotNull, lte, ne, sql, type SQL } from "drizzle-orm";

import type { Tx, Db } from "../db/database.ts";
import { secrets, secretVersions, stagedRows, stages, versionObjects } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { abandon, announce, discard, publish } from "../objects/loose.ts";
import { forEachAccount, type Sweeping } from "../operations/sweeping.ts";
import { revokeWaiting } from "../requests/queries.ts";
import { addStorage, nextChange, octetLength } from "../secrets/queries.ts";
import { countStored, reserveBytes } from "../secrets/quota.ts";
import type { Services } from "../services.ts";
import { endSharesIn } from "../shares/end.ts";
import type { OwnKeyring } from "./policy.ts";
import { changeAccount, lockAccount, readKeyring, type KeyringRow } from "./queries.ts";
import { hasHeader } from "./sealed-header.ts";

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
  own: OwnKeyring,
  { stage_id: stageId, rows }: StageRows,
  now: Date,
): Promise<{ stage_id: string; rows: number }> {
  const { db, objects, vendors } = services;
  const announced = new Set<string>();
  const taken = new Set<string>();
  const leave = async (): Promise<void> => {
    for (const key of announced) if (!taken.has(key)) await abandon(db, objects, own.accountId, key);
  };
  const putContent = async ({ secret_db_id: id, version, content }: StagedRow): Promise<Content | null> => {
    if (content === undefined) return null;
    const bytes = Buffer.from(content, "base64url");
    const objectKey = `${own.accountId}/${id}/${String(version)}-${randomBytes(12).toString("base64url")}`;
    await announce(db, own.accountId, objectKey, now);
    announced.add(objectKey);
    await objects.put(objectKey, bytes);
    return { objectKey, contentSha256: sha256(bytes), size: bytes.length };
  };
  try {
    const sealed: { row: StagedRow; content: Content | null }[] = [];
    for (const row of rows) sealed.push({ row, content: await putContent(row) });
    const answer = await changeAccount(services, own.accountId, async (tx, account) => {
      const keyring = await readKeyring(tx, own);
      if (keyring === null) throw new Problem("no_keyring");
      let added = -(await dropStages(
        tx,
        own.accountId,
        and(eq(stages.accountId, own.accountId), ne(stages.id, stageId)),
        now,
      ));
      const expiresAt = new Date(now.getTime() + stageHours * 3_600_000);
      await tx
        .insert(stages)
        .values({ accountId: own.accountId, id: stageId, expiresAt })
        .onConflictDoUpdate({ target: [stages.accountId, stages.id], set: { expiresAt } });
      for (const { row, content } of sealed) {
        const kept = await keepRow(tx, own, stageId, keyring, row, content, now);
        added += kept.added;
        if (kept.taken !== null) taken.add(kept.taken);
      }
      await countStored(tx, vendors.require(account.vendorId), account, added, reserveBytes);
      const [all] = await tx.select({ rows: count() }).from(stagedRows).where(isStage(own.accountId, stageId));
      return { stage_id: stageId, rows: all?.rows ?? 0 };
    });
    await leave();
    return answer;
  } catch (error) {
    taken.clear();
    // After any other failure the commit may have taken place: then what is loose is collected in a
    // day.
    if (error instanceof Problem) await leave();
    throw error;
  }
}

interface Content {
  readonly objectKey: string;
  readonly contentSha256: Buffer;
  readonly size: number;
}

/** A row that came before, byte for byte, stays as it is. */
async function keepRow(
  tx: Tx,
  { accountId }: OwnKeyring,
  stageId: string,
  keyring: KeyringRow,
  row: StagedRow,
  content: Content | null,
  now: Date,
): Promise<{ added: number; taken: string | null }> {
  const rowSha256 = sha256(canonicalBytes(row));
  const [before] = await tx
    .select()
    .from(stagedRows)
    .where(isRow(accountId, stageId, row));
  const stands = await readPlace(tx, accountId, keyring, row);
  const same =
    before?.rowSha256.equals(rowSha256) === true &&
    before.beforeTicketSha256.equals(stands.beforeTicketSha256) &&
    equal(before.beforeLabelSha256, stands.beforeLabelSha256);
  if (same) return { added: 0, taken: null };
  const freed = await dropRows(tx, accountId, isRow(accountId, stageId, row), now);
  if (content !== null) await publish(tx, accountId, content.objectKey);
  const ticket = row.ticket === undefined ? null : Buffer.from(row.ticket, "base64url");
  await tx.insert(stagedRows).values({
    accountId,
    stageId,
    secretId: row.secret_db_id,
    version: row.version,
    rowSha256,
    label: row.label ?? null,
    ticket,
    ...stands,
    ...content,
  });
  return {
    added: (row.label?.length ?? 0) + (ticket?.length ?? 0) + (content?.size ?? 0) - freed,
    taken: content?.objectKey ?? null,
  };
}

/** What a row stands for, as it is now. */
async function readPlace(
  tx: Tx,
  accountId: string,
  keyring: KeyringRow,
  { secret_db_id: id, version, label, ticket }: StagedRow,
): Promise<{ keyEpoch: number | null; beforeLabelSha256: Buffer | null; beforeTicketSha256: Buffer }> {
  const [place] = await tx
    .select({
      present: secrets.version,
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
  if (place === undefined) throw new Problem("not_found");
  if ((place.present === version) !== (label !== undefined))
    throw new Problem("version_conflict", { members: { version: place.present } });
  if (ticket !== undefined && place.droppedAt !== null) throw new Problem("content_gone");
  if (label === undefined) return { keyEpoch: null, beforeLabelSha256: null, beforeTicketSha256: place.ticketSha256 };
  const keyEpoch = [keyring.keyEpoch, keyring.keyEpoch + 1].find((epoch) =>
    hasHeader(label, { typ: "relicario-label", user_id: accountId, key_epoch: epoch, secret_id: id, version }, ["rev"]),
  );
  if (keyEpoch === undefined)
    throw new Problem("keyring_change_invalid", { detail: "the label's header does not fit" });
  return { keyEpoch, beforeLabelSha256: sha256(Buffer.from(place.label)), beforeTicketSha256: place.ticketSha256 };
}

/** A page of whole secrets; null for a stage that is not there, or over. */
export async function readStaged(
  tx: Tx,
  { accountId }: OwnKeyring,
  stageId: string,
  { cursor, now }: { readonly cursor: string | undefined; readonly now: Date },
): Promise<StagedRows | null> {
  const [stage] = await tx
    .select({ id: stages.id })
    .from(stages)
    .where(and(eq(stages.accountId, accountId), eq(stages.id, stageId), gt(stages.expiresAt, now)));
  if (stage === undefined) return null;
  const after = and(isStage(accountId, stageId), cursor === undefined ? undefined : gt(stagedRows.secretId, cursor));
  const ids = await tx
    .selectDistinct({ id: stagedRows.secretId })
    .from(stagedRows)
    .where(after)
    .orderBy(asc(stagedRows.secretId))
    .limit(secretsOfPage);
  const last = ids.at(-1)?.id;
  const rows = last === undefined ? [] : await readDigests(tx, and(after, lte(stagedRows.secretId, last)));
  return {
    stage_id: stageId,
    rows: rows.map(({ secretId, version, rowSha256 }) => ({
      secret_db_id: secretId,
      version,
      row_sha256: rowSha256.toString("base64url"),
    })),
    next_cursor: ids.length === secretsOfPage && last !== undefined ? last : null,
  };
}

/** Each has so many versions at most that a page stays below a megabyte. */
const secretsOfPage = maxListPage / 10;

const readDigests = (tx: Tx, which: SQL | undefined) =>
  tx
    .select({ secretId: stagedRows.secretId, version: stagedRows.version, rowSha256: stagedRows.rowSha256 })
    .from(stagedRows)
    .where(which)
    .orderBy(asc(stagedRows.secretId), asc(stagedRows.version));

/**
 * Puts the rows of the stage that a change names in the place of what they were sealed from.
 * Tickets and contents before them are kept nowhere, and shares of a version whose content was
 * sealed anew end first. With a new account key requests that wait for an answer are revoked.
 *
 * @returns the bytes that became free.
 * @throws Problem `conflict`
 */
export async function switchToStage(
  tx: Tx,
  accountId: string,
  keyEpoch: number,
  change: KeyringChange,
  now: Date,
): Promise<number> {
  const { stage_id: stageId, stage_sha256: digest } = change;
  if (stageId === undefined || digest === undefined) return 0;
  const [stage] = await tx
    .select({ expiresAt: stages.expiresAt })
    .from(stages)
    .where(and(eq(stages.accountId, accountId), eq(stages.id, stageId)));
  if (stage === undefined || stage.expiresAt <= now)
    throw new Problem("conflict", { detail: "there is no such stage" });
  const lines = (await readDigests(tx, isStage(accountId, stageId))).map(
    ({ secretId, version, rowSha256 }) => `${secretId} ${String(version)} ${rowSha256.toString("hex")}\n`,
  );
  if (sha256(Buffer.from(lines.join(""), "ascii")).toString("base64url") !== digest)
    throw new Problem("conflict", { detail: "the stage has other rows than the change says" });
  await refuseOld(tx, accountId, stageId, change.key_epoch);
  const isRotation = change.key_epoch !== keyEpoch;
  if (isRotation) await refuseLeftOver(tx, accountId, stageId);

  const staged = sql`${stagedRows.accountId} = ${accountId} and ${stagedRows.stageId} = ${stageId}`;
  const ofSecret = sql`${secrets.accountId} = ${stagedRows.accountId} and ${secrets.id} = ${stagedRows.secretId}`;
  const ofVersion = sql`${secretVersions.accountId} = ${stagedRows.accountId} and ${secretVersions.secretId} = ${stagedRows.secretId} and ${secretVersions.version} = ${stagedRows.version}`;
  const withContent = sql`select ${stagedRows.secretId}, ${stagedRows.version} from ${stagedRows} where ${staged} and ${stagedRows.objectKey} is not null`;
  const [before] = await tx
    .select({
      labels: sql<string>`coalesce(sum(${octetLength(secrets.label)}) filter (where ${stagedRows.label} is not null), 0)`,
      tickets: sql<string>`coalesce(sum(${octetLength(secretVersions.ticket)}) filter (where ${stagedRows.ticket} is not null), 0)`,
      contents: sql<string>`coalesce(sum(${secretVersions.size}) filter (where ${stagedRows.objectKey} is not null), 0)`,
    })
    .from(stagedRows)
    .innerJoin(secrets, ofSecret)
    .innerJoin(secretVersions, ofVersion)
    .where(staged);
  const ended =
    (await endSharesIn(tx, accountId, withContent, now)) + (isRotation ? await revokeWaiting(tx, accountId, now) : 0);
  const gone = await tx
    .delete(versionObjects)
    .where(
      and(
        eq(versionObjects.accountId, accountId),
        sql`(${versionObjects.secretId}, ${versionObjects.version}) in (${withContent})`,
      ),
    )
    .returning({ objectKey: versionObjects.objectKey });
  await discard(
    tx,
    accountId,
    gone.map(({ objectKey }) => objectKey),
    now,
  );
  await tx.execute(sql`insert into version_objects (account_id, secret_id, version, part, object_key, sha256)
    select account_id, secret_id, version, 1, object_key, content_sha256 from ${stagedRows} where ${staged} and object_key is not null`);
  await tx.execute(sql`update secret_versions set ticket = staged_rows.ticket, ticket_sha256 = sha256(staged_rows.ticket),
    content_sha256 = coalesce(staged_rows.content_sha256, secret_versions.content_sha256),
    size = coalesce(staged_rows.size, secret_versions.size), part_size = coalesce(staged_rows.size, secret_versions.part_size)
    from ${stagedRows} where ${staged} and ${ofVersion} and ${stagedRows.ticket} is not null`);
  await tx.execute(sql`update secrets set label = staged_rows.label, size = coalesce(staged_rows.size, secrets.size), change = ${await nextChange(tx, accountId)}
    from ${stagedRows} where ${staged} and ${ofSecret} and ${stagedRows.label} is not null`);
  await tx.delete(stagedRows).where(isStage(accountId, stageId));
  await tx.delete(stages).where(and(eq(stages.accountId, accountId), eq(stages.id, stageId)));
  return Number(before?.labels ?? 0) + Number(before?.tickets ?? 0) + Number(before?.contents ?? 0) + ended;
}

/**
 * @throws Problem `conflict`, with those rows (a hundred at most) as the member `rows`, when they
 *   were sealed from something that changed.
 */
async function refuseOld(tx: Tx, accountId: string, stageId: string, epoch: number): Promise<void> {
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
async function refuseLeftOver(tx: Tx, accountId: string, stageId: string): Promise<void> {
  const { rows } = await tx.execute<{ secret_db_id: string; version: number }>(sql`
    select s.id as secret_db_id, s.version from secrets s where s.account_id = ${accountId} and not exists (
      select from staged_rows r where r.account_id = s.account_id and r.stage_id = ${stageId} and r.secret_id = s.id and r.label is not null)
    order by s.id limit 100`);
  if (rows.length > 0) throw new Problem("conflict", { detail: "secrets are missing in the stage", members: { rows } });
}

/** Stages without a new row for a day. */
export function dropOldStages(db: Db, sweeping: Sweeping): Promise<void> {
  const { now } = sweeping;
  const due = lte(stages.expiresAt, now);
  return forEachAccount(db, sweeping, { accountId: stages.accountId, due }, (accountId) =>
    db.transaction(async (tx) => {
      await lockAccount(tx, accountId);
      const freed = await dropStages(tx, accountId, and(eq(stages.accountId, accountId), due), now);
      await addStorage(tx, accountId, -freed);
    }),
  );
}

/** @returns the bytes that became free. */
async function dropStages(tx: Tx, accountId: string, which: SQL | undefined, now: Date): Promise<number> {
  let freed = 0;
  for (const { id } of await tx.delete(stages).where(which).returning({ id: stages.id }))
    freed += await dropRows(tx, accountId, isStage(accountId, id), now);
  return freed;
}

/** Their objects go after the commit. @returns the bytes that became free. */
async function dropRows(tx: Tx, accountId: string, which: SQL | undefined, now: Date): Promise<number> {
  const gone = await tx
    .select({ objectKey: stagedRows.objectKey })
    .from(stagedRows)
    .where(and(which, isNotNull(stagedRows.objectKey)));
  const bytes = await tx
    .delete(stagedRows)
    .where(which)
    .returning({
      bytes: sql<string>`coalesce(octet_length(${stagedRows.label}), 0) + coalesce(octet_length(${stagedRows.ticket}), 0) + coalesce(${stagedRows.size}, 0)`,
    });
  await discard(
    tx,
    accountId,
    gone.flatMap(({ objectKey }) => (objectKey === null ? [] : [objectKey])),
    now,
  );
  return bytes.reduce((sum, row) => sum + Number(row.bytes), 0);
}

const isStage = (accountId: string, stageId: string): SQL | undefined =>
  and(eq(stagedRows.accountId, accountId), eq(stagedRows.stageId, stageId));
const isRow = (accountId: string, stageId: string, { secret_db_id: id, version }: RowKey): SQL | undefined =>
  and(isStage(accountId, stageId), eq(stagedRows.secretId, id), eq(stagedRows.version, version));

function equal(left: Buffer | null, right: Buffer | null): boolean {
  return left === null || right === null ? left === right : left.equals(right);
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}
