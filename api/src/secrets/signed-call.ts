import { hash } from "node:crypto";

import type { KeyringChange, StoreSecretResponse, TicketSignature } from "@relicario/shared/api";

import type { AccountScope } from "../auth/actor.ts";
import type { Db, Tx } from "../db/database.ts";
import { Problem } from "../http/problem.ts";
import { checkChangeCall, findRecordedResponse, type ChangeCall, type TargetSecret } from "../keyring/apply-change.ts";
import { checkTicketSignature } from "../keyring/check-change.ts";
import { readKeyring, type KeyringRow } from "../keyring/queries.ts";
import { hasExpectedHeader } from "../keyring/sealed-header.ts";
import { findSecret, isIdTaken, type NewVersion } from "./queries.ts";

/* Shared by calls that write a secret with a keyring change; see [Note: Keyring changes]. */

export interface CallState {
  readonly storedKeyring: KeyringRow | null;
  /** The first response, when the call repeats the last one. */
  readonly recordedResponse: StoreSecretResponse | null;
}

/** Needs a transaction with the account locked. */
export async function readCallState(tx: Tx, scope: AccountScope, call: ChangeCall): Promise<CallState> {
  const storedKeyring = await readKeyring(tx, scope);
  const recordedResponse = findRecordedResponse(storedKeyring, call);
  if (recordedResponse === null) return { storedKeyring, recordedResponse: null };
  if (recordedResponse.secretId === null || recordedResponse.version === null)
    throw new Error("the recorded call has no secret");
  return {
    storedKeyring,
    recordedResponse: {
      secret_db_id: recordedResponse.secretId,
      version: recordedResponse.version,
      state_rev: recordedResponse.stateRev,
    },
  };
}

/**
 * Checks what the transaction would refuse, before costly work. The transaction checks it again.
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
  const storedKeyring = await readKeyring(db, scope);
  if (findRecordedResponse(storedKeyring, call) !== null) return;
  await rejectConflicts(db, scope, targetSecret.secretId, baseVersion);
  checkChangeCall(scope.accountId, storedKeyring, call, targetSecret);
}

export function getNextVersion(baseVersion: number | undefined): number {
  return baseVersion === undefined ? 1 : baseVersion + 1;
}

/**
 * Checked before `state_conflict`: conflicts that the person must resolve come before one that the
 * device resolves.
 *
 * @throws Problem `id_taken`, `not_found`, `version_conflict` (with the current one as the member
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

/** A label that names another account, secret or version could never be opened. */
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
  if (!isValid) throw new Problem("keyring_change_invalid", { detail: "the label's header is wrong" });
}

/** Checks the signature that accompanies the ticket of a version. */
export function checkOwnerTicket(
  storedKeyring: KeyringRow | null,
  change: KeyringChange,
  signature: TicketSignature,
  { id, version, ticket, contentSha256 }: Pick<NewVersion, "id" | "version" | "ticket" | "contentSha256">,
): void {
  checkTicketSignature(storedKeyring, change, signature, {
    secret_id: id,
    version,
    share_id: null,
    ticket_sha256: hash("sha256", ticket, "base64url"),
    content_sha256: contentSha256.toString("base64url"),
  });
}
