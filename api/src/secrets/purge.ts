import type { KeyringChange } from "@relicario/shared/api";
import { and, eq, inArray, isNotNull } from "drizzle-orm";

import type { Noted } from "../activity/note.ts";
import type { Tx } from "../db/database.ts";
import { purgedSecrets, secrets } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import type { AccountRow } from "../keyring/queries.ts";
import { deleteVersions, dropVersions, findSecret, nextChange, octetLength } from "./queries.ts";

/**
 * Removes secrets for good, as the signed change says; their ids are never used again. Their
 * objects go after the commit.
 *
 * @returns the bytes that became free.
 * @throws Problem `keyring_change_invalid` when one of them is not in the trash.
 */
export async function purgeSecrets(tx: Tx, account: AccountRow, ids: readonly string[], now: Date): Promise<number> {
  if (ids.length === 0) return 0;
  const wanted = [...ids];
  const gone = await tx
    .delete(secrets)
    .where(and(eq(secrets.accountId, account.id), inArray(secrets.id, wanted), isNotNull(secrets.deletedAt)))
    .returning({ labelBytes: octetLength(secrets.label) });
  if (gone.length !== ids.length)
    throw new Problem("keyring_change_invalid", { detail: "it purges a secret that is not in the trash" });
  const freed = await deleteVersions(tx, { accountId: account.id, vendorId: account.vendorId }, wanted, now);
  const [only] = ids.length === 1 ? ids : [];
  const noted: Noted = { kind: "secret_purged", count: ids.length, ...(only === undefined ? {} : { secretId: only }) };
  const change = await nextChange(tx, account.id, { noted, now });
  await tx.insert(purgedSecrets).values(wanted.map((id) => ({ accountId: account.id, id, change })));
  return freed + gone.reduce((sum, { labelBytes }) => sum + labelBytes, 0);
}

/**
 * Drops former versions, as the signed change says; one that went before is no error. Their lines
 * stay.
 *
 * @returns the bytes that became free.
 * @throws Problem `keyring_change_invalid` for a present version, or one that never was.
 */
export async function purgeVersions(
  tx: Tx,
  account: AccountRow,
  wanted: NonNullable<KeyringChange["purge_versions"]>,
  now: Date,
): Promise<number> {
  const own = { accountId: account.id, vendorId: account.vendorId };
  let freed = 0;
  for (const { secret_db_id: id, versions } of wanted) {
    const row = await findSecret(tx, own, id);
    if (row === null || versions.some((version) => version >= row.version))
      throw new Problem("keyring_change_invalid", { detail: "it removes a version that is not a former one" });
    freed += await dropVersions(tx, own, [id], now, versions);
  }
  return freed;
}
