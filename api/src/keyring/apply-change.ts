import { hash } from "node:crypto";

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
 * [Note: Keyring changes] Every call with a change runs in one transaction, with the account's row
 * locked:
 *
 * 1. Returns the recorded response when the change equals the last stored one, byte for byte
 *    (`findRecordedResponse`).
 * 2. Checks the call's own conflicts: `id_taken`, `version_conflict`.
 * 3. Checks `state_conflict`, signature and contents, and writes the change (`applyChange`).
 * 4. Writes the call's own rows.
 */

export interface ChangeCall {
  readonly change: KeyringChange;
  /** SHA-256 of the JCS of the change, `sig` included. */
  readonly changeSha256: Buffer;
  /** SHA-256 of the JCS of the rest of the call; of null for `PUT /user/keyring`. */
  readonly callSha256: Buffer;
}

/** Computes both digests lazily: a call that is refused earlier costs none. */
export function createChangeCall(change: KeyringChange, rest: Json = null): ChangeCall {
  let changeSha256: Buffer | undefined;
  let callSha256: Buffer | undefined;
  return {
    change,
    get changeSha256() {
      return (changeSha256 ??= hash("sha256", encodeCanonical(change), "buffer"));
    },
    get callSha256() {
      return (callSha256 ??= hash("sha256", encodeCanonical(rest), "buffer"));
    },
  };
}

export interface RecordedResponse {
  readonly stateRev: number;
  readonly secretId: string | null;
  readonly version: number | null;
}

/**
 * Returns the recorded response to a repeated change; null for a new change. The same change with
 * another `rest` is no repetition: the recorded response would hide that the call's own rows were
 * not written.
 *
 * @throws Problem `state_conflict` for the same change with another `rest`.
 */
export function findRecordedResponse(storedKeyring: KeyringRow | null, call: ChangeCall): RecordedResponse | null {
  if (storedKeyring?.stateRev !== call.change.state_rev || !storedKeyring.lastChangeSha256.equals(call.changeSha256))
    return null;
  const hasOnlyChange = call.callSha256.equals(emptyCallSha256);
  if (!hasOnlyChange && !storedKeyring.lastCallSha256.equals(call.callSha256)) throw createStateConflict(storedKeyring);
  return { stateRev: storedKeyring.stateRev, secretId: storedKeyring.lastSecretId, version: storedKeyring.lastVersion };
}

/** The secret that the call writes, as it is after the call. */
export interface TargetSecret {
  readonly secretId: string;
  readonly version: number;
}

export type ChangeDeps = Pick<Services, "recordBox" | "mailer" | "onKeyringChange">;

/**
 * The checks of {@link applyChange} that need no write.
 *
 * @throws Problem `no_keyring`, `state_conflict` (with the current keyring as the member
 *   `keyring`), `keyring_change_invalid`.
 */
export function checkChangeCall(
  accountId: string,
  storedKeyring: KeyringRow | null,
  { change }: ChangeCall,
  targetSecret: TargetSecret | null,
): void {
  if (storedKeyring === null && change.state_rev !== 1) throw new Problem("no_keyring");
  if (storedKeyring !== null && change.state_rev !== storedKeyring.stateRev + 1)
    throw createStateConflict(storedKeyring);
  if (storedKeyring === null && targetSecret === null) {
    throw new Problem("keyring_change_invalid", { detail: "the first change comes with the first secret" });
  }
  checkChange(accountId, storedKeyring satisfies StoredKeyring | null, change);
  if (targetSecret !== null && change.stage_id !== undefined)
    throw new Problem("keyring_change_invalid", { detail: "a call with a secret cannot name a stage" });
  if (targetSecret !== null && change.purge?.includes(targetSecret.secretId) === true) {
    throw new Problem("keyring_change_invalid", { detail: "it purges the secret that the call writes" });
  }
}

/**
 * @returns the added bytes; negative when more was freed.
 * @throws Problem as {@link checkChangeCall}, and `conflict` for a stage that is incomplete or
 *   outdated.
 */
export async function applyChange(
  tx: Tx,
  account: AccountRow,
  storedKeyring: KeyringRow | null,
  call: ChangeCall,
  targetSecret: TargetSecret | null,
  deps: ChangeDeps,
  context: RequestContext,
): Promise<number> {
  const { change } = call;
  checkChangeCall(account.id, storedKeyring, call, targetSecret);
  const changeRecord = {
    changeSha256: call.changeSha256,
    callSha256: call.callSha256,
    secretId: targetSecret?.secretId ?? null,
    version: targetSecret?.version ?? null,
  };
  const addedBytes = await writeChange(
    tx,
    account.id,
    storedKeyring,
    change,
    changeRecord,
    deps.recordBox,
    context.now,
  );
  const freedBytes = await deps.onKeyringChange(tx, {
    accountId: account.id,
    vendorId: account.vendorId,
    previousKeyEpoch: storedKeyring?.keyEpoch ?? null,
    change,
    now: context.now,
  });
  if (hasOpenerChanges(change)) await deps.mailer.queue(tx, account.id, "openers_changed", context);
  await recordActivity(tx, account.id, buildOpenerEvents(storedKeyring, change), context.now);
  return addedBytes - freedBytes;
}

/**
 * Requires that a change of shares or requests contains that document. @throws Problem
 * `keyring_change_invalid`
 */
export function requireDocument(change: KeyringChange, document: "shares" | "requests"): void {
  if (change[document] === undefined) throw new Problem("keyring_change_invalid", { detail: `it has no ${document}` });
}

/**
 * Whether slots, key statement or image records change: an attacker who takes over the account must
 * touch one of them.
 */
function hasOpenerChanges({ slots, image_records: records, key_statement: statement }: KeyringChange): boolean {
  return (
    statement !== undefined ||
    [slots, records].some((list) => list !== undefined && list.set.length + list.remove.length > 0)
  );
}

/**
 * Builds the events for the account's owner. An opener whose slot was only re-sealed does not count
 * as added.
 */
function buildOpenerEvents(
  storedKeyring: KeyringRow | null,
  { slots, key_epoch: epoch }: KeyringChange,
): ActivityEvent[] {
  const previousIds = new Set(storedKeyring?.slots.map(({ openerId }) => openerId));
  const addedCount = (slots?.set ?? []).filter(({ opener_id: id }) => !previousIds.has(id)).length;
  const removedCount = (slots?.remove ?? []).filter((id) => previousIds.has(id)).length;
  return [
    ...(addedCount > 0 ? [{ kind: "opener_added", count: addedCount } as const] : []),
    ...(removedCount > 0 ? [{ kind: "opener_removed", count: removedCount } as const] : []),
    ...(storedKeyring !== null && epoch > storedKeyring.keyEpoch ? [{ kind: "rotated" } as const] : []),
  ];
}

export function createStateConflict(storedKeyring: KeyringRow): Problem {
  return new Problem("state_conflict", { members: { keyring: presentKeyring(storedKeyring) } });
}

const emptyCallSha256 = hash("sha256", encodeCanonical(null), "buffer");
