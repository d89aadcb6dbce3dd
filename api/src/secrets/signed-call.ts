import type { KeyringChange, SecretStored } from "@relicario/shared/api";

import type { Db, Tx } from "../db/database.ts";
import { Problem } from "../http/problem.ts";
import { checkCall, repeatOf, type Call, type GoesWith } from "../keyring/apply-change.ts";
import { readKeyring, type KeyringRow } from "../keyring/queries.ts";
import { hasHeader } from "../keyring/sealed-header.ts";
import type { OwnSecrets } from "./policy.ts";
import { findSecret, isTaken } from "./queries.ts";

/*
 * What every call does that goes with a secret and carries a keyring change; see [Note: Keyring
 * changes].
 */

export interface Begun {
  readonly stored: KeyringRow | null;
  /** The first answer, when this is the last call once more. */
  readonly repeated: SecretStored | null;
}

/** Within a transaction that holds the account. */
export async function begin(tx: Tx, own: OwnSecrets, call: Call): Promise<Begun> {
  const stored = await readKeyring(tx, own);
  const first = repeatOf(stored, call);
  if (first === null) return { stored, repeated: null };
  if (first.secretId === null || first.version === null) throw new Error("a call with a secret was kept without one");
  return { stored, repeated: { secret_db_id: first.secretId, version: first.version, state_rev: first.stateRev } };
}

/**
 * What the transaction will refuse anyway, before something costly is done for it; what holds now
 * may not hold then.
 *
 * @throws Problem as {@link refuseConflicts} and {@link checkCall}
 */
export async function refuseEarly(
  db: Db,
  own: OwnSecrets,
  call: Call,
  secret: GoesWith,
  base: number | undefined,
): Promise<void> {
  const stored = await readKeyring(db, own);
  if (repeatOf(stored, call) !== null) return;
  await refuseConflicts(db, own, secret.secretId, base);
  checkCall(own.accountId, stored, call, secret);
}

/** The version that a content becomes. */
export function versionAfter(base: number | undefined): number {
  return base === undefined ? 1 : base + 1;
}

/**
 * Looked at before `state_conflict`: what the person has to decide comes before what the device
 * settles alone.
 *
 * @throws Problem `id_taken`, `not_found`, `version_conflict` (with the present one as the member
 *   `version`)
 */
export async function refuseConflicts(
  tx: Db | Tx,
  own: OwnSecrets,
  id: string,
  base: number | undefined,
): Promise<void> {
  if (base === undefined) {
    if (await isTaken(tx, own, id)) throw new Problem("id_taken");
    return;
  }
  const row = await findSecret(tx, own, id);
  if (row === null) throw new Problem("not_found");
  if (row.version !== base) throw new Problem("version_conflict", { members: { version: row.version } });
}

/** A label that names another account, secret or version could never be opened again. */
export function checkLabel(
  { accountId }: OwnSecrets,
  { key_epoch }: KeyringChange,
  label: string,
  id: string,
  version: number,
): void {
  const fits = hasHeader(label, { typ: "relicario-label", user_id: accountId, key_epoch, secret_id: id, version }, [
    "rev",
  ]);
  if (!fits) throw new Problem("keyring_change_invalid", { detail: "the label's header does not fit" });
}
