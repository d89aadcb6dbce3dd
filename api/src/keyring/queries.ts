import { stringifyCanonical, KeyStatement, maxStatesPageSize, type KeyringChange } from "@relicario/shared/api";
import { and, asc, eq, gt, inArray, isNull, sql } from "drizzle-orm";

import { toNameKey } from "../accounts/user-names.ts";
import type { AccountScope } from "../auth/actor.ts";
import type { Db, Tx } from "../db/database.ts";
import { recordOverheadBytes, type RecordBox } from "../db/record-box.ts";
import { imageRecords, formerKeyringParts, keyrings, keyringStates, slots, userNames } from "../db/schema.ts";
import type { StoredKeyring } from "./check-change.ts";

export interface KeyringRow extends StoredKeyring {
  readonly book: string;
  readonly shares: string;
  readonly requests: string | null;
  readonly slots: readonly { openerId: string; kind: "image" | "recovery_code" | "passkey"; slot: Buffer }[];
  readonly lastChangeSha256: Buffer;
  readonly lastCallSha256: Buffer;
  readonly lastSecretId: string | null;
  readonly lastVersion: number | null;
}

export async function readKeyring(db: Db | Tx, { accountId }: AccountScope): Promise<KeyringRow | null> {
  const [row] = await db.select().from(keyrings).where(eq(keyrings.accountId, accountId));
  if (row === undefined) return null;
  const slotRows = await db.select().from(slots).where(eq(slots.accountId, accountId)).orderBy(asc(slots.openerId));
  const recordRows = await db
    .select({ id: imageRecords.id })
    .from(imageRecords)
    .where(eq(imageRecords.accountId, accountId));
  return {
    ...row,
    keyStatement: KeyStatement.parse(JSON.parse(row.keyStatement)),
    slots: slotRows,
    imageRecordIds: recordRows.map(({ id }) => id),
  };
}

/** One page of the states after `since`, oldest first. */
export function readStates(
  db: Db | Tx,
  { accountId }: AccountScope,
  since: number,
): Promise<{ stateRev: number; state: string }[]> {
  return db
    .select({ stateRev: keyringStates.stateRev, state: keyringStates.state })
    .from(keyringStates)
    .where(and(eq(keyringStates.accountId, accountId), gt(keyringStates.stateRev, since)))
    .orderBy(asc(keyringStates.stateRev))
    .limit(maxStatesPageSize);
}

export function readImageRecords(
  db: Db,
  { accountId }: AccountScope,
): Promise<{ id: string; sealedHelper: Buffer; createdAt: Date }[]> {
  return db.select().from(imageRecords).where(eq(imageRecords.accountId, accountId)).orderBy(asc(imageRecords.id));
}

/**
 * The published key statement of a person of this vendor; null without one. Two queries, because
 * the user name and the keyring may be on different machines.
 */
export async function readKeyStatement(
  db: Db,
  { vendorId }: AccountScope,
  userName: string,
): Promise<KeyStatement | null> {
  const [userNameRow] = await db
    .select({ accountId: userNames.accountId })
    .from(userNames)
    .where(
      and(eq(userNames.vendorId, vendorId), eq(userNames.nameKey, toNameKey(userName)), isNull(userNames.releasedAt)),
    );
  if (userNameRow === undefined) return null;
  const [row] = await db
    .select({ keyStatement: keyrings.keyStatement })
    .from(keyrings)
    .where(eq(keyrings.accountId, userNameRow.accountId));
  return row === undefined ? null : KeyStatement.parse(JSON.parse(row.keyStatement));
}

export interface ChangeRecord {
  readonly changeSha256: Buffer;
  readonly callSha256: Buffer;
  readonly secretId: string | null;
  readonly version: number | null;
}

/**
 * Writes a checked change. Replaced and removed parts are kept for 30 days, every state forever.
 *
 * @returns the added bytes.
 */
export async function writeChange(
  tx: Tx,
  accountId: string,
  storedKeyring: KeyringRow | null,
  change: KeyringChange,
  changeRecord: ChangeRecord,
  box: RecordBox,
  now: Date,
): Promise<number> {
  await archiveReplacedParts(tx, accountId, storedKeyring, change, now);
  const values = {
    keyEpoch: change.key_epoch,
    stateRev: change.state_rev,
    state: change.state,
    ...(change.book === undefined ? {} : { book: change.book }),
    ...(change.shares === undefined ? {} : { shares: change.shares }),
    ...(change.requests === undefined ? {} : { requests: change.requests }),
    ...(change.key_statement === undefined ? {} : { keyStatement: stringifyCanonical(change.key_statement) }),
    lastChangeSha256: changeRecord.changeSha256,
    lastCallSha256: changeRecord.callSha256,
    lastSecretId: changeRecord.secretId,
    lastVersion: changeRecord.version,
    updatedAt: now,
  };
  if (storedKeyring === null) {
    const { book, shares, keyStatement } = values;
    if (book === undefined || shares === undefined || keyStatement === undefined)
      throw new Error("the first change was not checked");
    await tx.insert(keyrings).values({ accountId, ...values, book, shares, keyStatement });
  } else {
    await tx.update(keyrings).set(values).where(eq(keyrings.accountId, accountId));
  }
  await tx.insert(keyringStates).values({ accountId, stateRev: change.state_rev, state: change.state, createdAt: now });
  await writeSlots(tx, accountId, change);
  await writeImageRecords(tx, accountId, change, box);
  return countAddedBytes(storedKeyring, change);
}

/**
 * Counts all new parts, because replaced parts are kept as former ones. Only the current state and
 * the key statement replace their former bytes.
 */
function countAddedBytes(
  storedKeyring: KeyringRow | null,
  {
    state,
    book = "",
    shares = "",
    requests = "",
    key_statement: statement,
    slots: slotChanges,
    image_records: recordChanges,
  }: KeyringChange,
): number {
  const statementBytes =
    statement === undefined
      ? 0
      : stringifyCanonical(statement).length -
        (storedKeyring === null ? 0 : stringifyCanonical(storedKeyring.keyStatement).length);
  const slotBytes = (slotChanges?.set ?? []).reduce((sum, { slot }) => sum + countB64uBytes(slot), 0);
  const recordBytes = (recordChanges?.set ?? []).reduce(
    (sum, { helper }) => sum + countB64uBytes(helper) + recordOverheadBytes,
    0,
  );
  return (
    2 * state.length -
    (storedKeyring?.state.length ?? 0) +
    book.length +
    shares.length +
    requests.length +
    statementBytes +
    slotBytes +
    recordBytes
  );
}

function countB64uBytes(text: string): number {
  return Buffer.byteLength(text, "base64url");
}

async function writeSlots(tx: Tx, accountId: string, { slots: slotChanges }: KeyringChange): Promise<void> {
  if (slotChanges === undefined) return;
  if (slotChanges.remove.length > 0)
    await tx.delete(slots).where(and(eq(slots.accountId, accountId), inArray(slots.openerId, slotChanges.remove)));
  if (slotChanges.set.length === 0) return;
  await tx
    .insert(slots)
    .values(
      slotChanges.set.map(({ opener_id, kind, slot }) => ({
        accountId,
        openerId: opener_id,
        kind,
        slot: Buffer.from(slot, "base64url"),
      })),
    )
    .onConflictDoUpdate({
      target: [slots.accountId, slots.openerId],
      set: { kind: sql`excluded.kind`, slot: sql`excluded.slot` },
    });
}

async function writeImageRecords(
  tx: Tx,
  accountId: string,
  { image_records: recordChanges }: KeyringChange,
  box: RecordBox,
): Promise<void> {
  if (recordChanges === undefined) return;
  if (recordChanges.remove.length > 0) {
    await tx
      .delete(imageRecords)
      .where(and(eq(imageRecords.accountId, accountId), inArray(imageRecords.id, recordChanges.remove)));
  }
  if (recordChanges.set.length === 0) return;
  await tx
    .insert(imageRecords)
    .values(
      recordChanges.set.map(({ id, helper, created_at }) => ({
        accountId,
        id,
        sealedHelper: box.seal(accountId, id, Buffer.from(helper, "base64url")),
        createdAt: new Date(created_at),
      })),
    )
    .onConflictDoUpdate({
      target: [imageRecords.accountId, imageRecords.id],
      set: { sealedHelper: sql`excluded.sealed_helper`, createdAt: sql`excluded.created_at` },
    });
}

async function archiveReplacedParts(
  tx: Tx,
  accountId: string,
  storedKeyring: KeyringRow | null,
  change: KeyringChange,
  now: Date,
): Promise<void> {
  if (storedKeyring === null) return;
  const replacedParts: {
    part: "book" | "shares" | "requests" | "slot" | "image_record";
    partId: string;
    value: Buffer;
  }[] = [];
  if (change.book !== undefined)
    replacedParts.push({ part: "book", partId: "", value: Buffer.from(storedKeyring.book) });
  if (change.shares !== undefined)
    replacedParts.push({ part: "shares", partId: "", value: Buffer.from(storedKeyring.shares) });
  if (change.requests !== undefined && storedKeyring.requests !== null)
    replacedParts.push({ part: "requests", partId: "", value: Buffer.from(storedKeyring.requests) });
  const replacedSlotIds = new Set([
    ...(change.slots?.remove ?? []),
    ...(change.slots?.set ?? []).map((slot) => slot.opener_id),
  ]);
  for (const { openerId, slot } of storedKeyring.slots)
    if (replacedSlotIds.has(openerId)) replacedParts.push({ part: "slot", partId: openerId, value: slot });
  const replacedRecordIds = [
    ...(change.image_records?.remove ?? []),
    ...(change.image_records?.set ?? []).map((record) => record.id),
  ];
  if (replacedRecordIds.length > 0) {
    const rows = await tx
      .select({ id: imageRecords.id, sealedHelper: imageRecords.sealedHelper })
      .from(imageRecords)
      .where(and(eq(imageRecords.accountId, accountId), inArray(imageRecords.id, replacedRecordIds)));
    for (const { id, sealedHelper } of rows)
      replacedParts.push({ part: "image_record", partId: id, value: sealedHelper });
  }
  if (replacedParts.length === 0) return;
  await tx
    .insert(formerKeyringParts)
    .values(replacedParts.map((part) => ({ accountId, stateRev: change.state_rev, endedAt: now, ...part })));
}
