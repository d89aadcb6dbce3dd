import type { KeyringChange, StoreSecretResponse } from "@relicario/shared/api";

import type { AccountScope } from "../auth/actor.ts";
import type { Db, Tx } from "../db/database.ts";
import { Problem } from "../http/problem.ts";
import { checkChangeCall, findRecordedResponse, type ChangeCall, type TargetSecret } from "../keyring/apply-change.ts";
import { readKeyring, type KeyringRow } from "../keyring/queries.ts";
import { hasExpectedHeader } from "../keyring/sealed-header.ts";
import { findSecret, isIdTaken } from "./queries.ts";

/*
 * What every call does that goes with a secret and carries a keyring change; see [Note: Keyring
 * changes].
 */

export interface CallState {
  readonly stored: KeyringRow | null;
  /** The first answer, when this is the last call once more. */
  readonly recordedAnswer: StoreSecretResponse | null;
}

/** Within a transaction that holds the account. */
export async function readCallState(tx: Tx, scope: AccountScope, call: ChangeCall): Promise<CallState> {
  const stored = await readKeyring(tx, scope);
  const recordedResponse = findRecordedResponse(stored, call);
  if (recordedResponse === null) return { stored, recordedAnswer: null };
  if (recordedResponse.secretId === null || recordedResponse.version === null)
    throw new Error("a call with a secret was kept without one");
  return {
    stored,
    recordedAnswer: {
      secret_db_id: recordedResponse.secretId,
      version: recordedResponse.version,
      state_rev: recordedResponse.stateRev,
    },
  };
}

/**
 * What the transaction will refuse anyway, before something costly is done for it; what holds now
 * may not hold then.
 *
 * @throws Problem as {@link rejectConflicts} and {@link checkChangeCall}
 */
export async function precheckCall(
  db: Db,
  scope: AccountScope,
  call: ChangeCall,
  targetSecret: TargetSecret,
  baseVersion: number | undefined,
): Promise<void> {
  const stored = await readKeyring(db, scope);
  if (findRecordedResponse(stored, call) !== null) return;
  await rejectConflicts(db, scope, targetSecret.secretId, baseVersion);
  checkChangeCall(scope.accountId, stored, call, targetSecret);
}

/** The version that a content becomes. */
export function getNextVersion(baseVersion: number | undefined): number {
  return baseVersion === undefined ? 1 : baseVersion + 1;
}

/**
 * Looked at before `state_conflict`: what the person has to decide comes before what the device
 * settles alone.
 *
 * @throws Problem `id_taken`, `not_found`, `version_conflict` (with the present one as the member
 *   `version`)
 */
export async function rejectConflicts(
  tx: Db | Tx,
  scope: AccountScope,
  id: string,
  baseVersion: number | undefined,
): Promise<void> {
  if (baseVersion === undefined) {
    if (await isIdTaken(tx, scope, id)) throw new Problem("id_taken");
    return;
  }
  const row = await findSecret(tx, scope, id);
  if (row === null) throw new Problem("not_found");
  if (row.version !== baseVersion) throw new Problem("version_conflict", { members: { version: row.version } });
}

/** A label that names another account, secret or version could never be opened again. */
export function checkLabelHeader(
  { accountId }: AccountScope,
  { key_epoch }: KeyringChange,
  label: string,
  id: string,
  version: number,
): void {
  const isValid = hasExpectedHeader(
    label,
    { typ: "relicario-label", user_id: accountId, key_epoch, secret_id: id, version },
    ["rev"],
  );
  if (!isValid) throw new Problem("keyring_change_invalid", { detail: "the label's header does not fit" });
}
