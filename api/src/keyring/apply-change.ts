import { createHash } from "node:crypto";

import { encodeCanonical, type Json, type KeyringChange } from "@relicario/shared/api";

import type { AccountRow } from "../accounts/lock-account.ts";
import { recordActivity, type ActivityEvent } from "../activity/record-activity.ts";
import type { Tx } from "../db/database.ts";
import { Problem } from "../http/problem.ts";
import type { RequestContext } from "../language/language.ts";
import type { Services } from "../services/services.ts";
import { checkChange, type StoredKeyring } from "./check-change.ts";
import { presentKeyring } from "./present.ts";
import { writeChange, type KeyringRow } from "./queries.ts";

/*
 * [Note: Keyring changes] In one transaction, with the account's row held, every call that carries
 * a change
 *
 * 1. answers as the first time when the change is the stored last one, byte for byte
 *    (`findRecordedResponse`);
 * 2. looks for its own conflicts: `id_taken`, `version_conflict`;
 * 3. looks for `state_conflict`, checks signature and contents, and writes the change
 *    (`applyChange`);
 * 4. writes its own rows.
 */

export interface ChangeCall {
  readonly change: KeyringChange;
  /** SHA-256 of the JCS of the change, `sig` included. */
  readonly changeSha256: Buffer;
  /** SHA-256 of the JCS of what else is in the call; of nothing for `PUT /user/keyring`. */
  readonly callSha256: Buffer;
}

/** Both digests are computed when they are asked for: a call that is refused before costs none. */
export function createChangeCall(change: KeyringChange, rest: Json = null): ChangeCall {
  let changeSha256: Buffer | undefined;
  let callSha256: Buffer | undefined;
  return {
    change,
    get changeSha256() {
      return (changeSha256 ??= sha256(encodeCanonical(change)));
    },
    get callSha256() {
      return (callSha256 ??= sha256(encodeCanonical(rest)));
    },
  };
}

export interface RecordedResponse {
  readonly stateRev: number;
  readonly secretId: string | null;
  readonly version: number | null;
}

/**
 * What was answered to the same change, null when it is another one. A call that has the same
 * change but other contents is no repeat: answering it as the first would lose what it brings.
 *
 * @throws Problem `state_conflict` for such a call.
 */
export function findRecordedResponse(stored: KeyringRow | null, call: ChangeCall): RecordedResponse | null {
  if (stored?.stateRev !== call.change.state_rev || !stored.lastChangeSha256.equals(call.changeSha256)) return null;
  const hasOnlyChange = call.callSha256.equals(emptyCallSha256);
  if (!hasOnlyChange && !stored.lastCallSha256.equals(call.callSha256)) throw createStateConflict(stored);
  return { stateRev: stored.stateRev, secretId: stored.lastSecretId, version: stored.lastVersion };
}

/** The secret that a change goes with, as it is after the call. */
export interface TargetSecret {
  readonly secretId: string;
  readonly version: number;
}

export type ChangeDeps = Pick<Services, "recordBox" | "mailer" | "onKeyringChange">;

/**
 * What can be refused of a change without writing anything; see {@link applyChange}.
 *
 * @throws Problem `no_keyring`, `state_conflict` (with the current keyring as the member
 *   `keyring`), `keyring_change_invalid`.
 */
export function checkChangeCall(
  accountId: string,
  stored: KeyringRow | null,
  { change }: ChangeCall,
  targetSecret: TargetSecret | null,
): void {
  if (stored === null && change.state_rev !== 1) throw new Problem("no_keyring");
  if (stored !== null && change.state_rev !== stored.stateRev + 1) throw createStateConflict(stored);
  if (stored === null && targetSecret === null) {
    throw new Problem("keyring_change_invalid", { detail: "the first change comes with the first secret" });
  }
  checkChange(accountId, stored satisfies StoredKeyring | null, change);
  if (targetSecret !== null && change.stage_id !== undefined)
    throw new Problem("keyring_change_invalid", { detail: "a stage goes with no secret" });
  if (targetSecret !== null && change.purge?.includes(targetSecret.secretId) === true) {
    throw new Problem("keyring_change_invalid", { detail: "it purges the secret that it goes with" });
  }
}

/**
 * @returns the bytes that are kept more than before; fewer than none when more went.
 * @throws Problem as {@link checkChangeCall}, and `conflict` when it names a stage that is not
 *   whole, or not of what stands now.
 */
export async function applyChange(
  tx: Tx,
  account: AccountRow,
  stored: KeyringRow | null,
  call: ChangeCall,
  targetSecret: TargetSecret | null,
  deps: ChangeDeps,
  context: RequestContext,
): Promise<number> {
  const { change } = call;
  checkChangeCall(account.id, stored, call, targetSecret);
  const changeRecord = {
    changeSha256: call.changeSha256,
    callSha256: call.callSha256,
    secretId: targetSecret?.secretId ?? null,
    version: targetSecret?.version ?? null,
  };
  const addedBytes = await writeChange(tx, account.id, stored, change, changeRecord, deps.recordBox, context.now);
  const freedBytes = await deps.onKeyringChange(tx, {
    accountId: account.id,
    vendorId: account.vendorId,
    previousKeyEpoch: stored?.keyEpoch ?? null,
    change,
    now: context.now,
  });
  if (hasOpenerChanges(change)) await deps.mailer.queue(tx, account.id, "openers_changed", context);
  await recordActivity(tx, account.id, buildOpenerEvents(stored, change), context.now);
  return addedBytes - freedBytes;
}

/**
 * What the call does has to stand in this sealed document, too. @throws Problem
 * `keyring_change_invalid`
 */
export function requireDocument(change: KeyringChange, document: "shares" | "requests"): void {
  if (change[document] === undefined) throw new Problem("keyring_change_invalid", { detail: `it has no ${document}` });
}

/**
 * Slots, key statement or image records: what somebody who took an account over would have to
 * touch.
 */
function hasOpenerChanges({ slots, image_records: records, key_statement: statement }: KeyringChange): boolean {
  return (
    statement !== undefined ||
    [slots, records].some((list) => list !== undefined && list.set.length + list.remove.length > 0)
  );
}

/** What a person calls it: an opener that is sealed to once more is none that was added. */
function buildOpenerEvents(stored: KeyringRow | null, { slots, key_epoch: epoch }: KeyringChange): ActivityEvent[] {
  const previousIds = new Set(stored?.slots.map(({ openerId }) => openerId));
  const addedCount = (slots?.set ?? []).filter(({ opener_id: id }) => !previousIds.has(id)).length;
  const removedCount = (slots?.remove ?? []).filter((id) => previousIds.has(id)).length;
  return [
    ...(addedCount > 0 ? [{ kind: "opener_added", count: addedCount } as const] : []),
    ...(removedCount > 0 ? [{ kind: "opener_removed", count: removedCount } as const] : []),
    ...(stored !== null && epoch > stored.keyEpoch ? [{ kind: "rotated" } as const] : []),
  ];
}

export function createStateConflict(stored: KeyringRow): Problem {
  return new Problem("state_conflict", { members: { keyring: presentKeyring(stored) } });
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}

const emptyCallSha256 = sha256(encodeCanonical(null));
