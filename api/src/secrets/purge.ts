import type { KeyringChange } from "@relicario/shared/api";
import { and, eq, inArray, isNotNull, isNull } from "drizzle-orm";

import { incrementChangeCounter } from "../accounts/change-counter.ts";
import { octetLength } from "../accounts/storage-used.ts";
import type { ActivityEvent } from "../activity/record-activity.ts";
import { createAccountScope, type AccountScope } from "../auth/actor.ts";
import type { Tx } from "../db/database.ts";
import { purgedSecrets, secrets } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import type { WrittenChange } from "../resource/resource.ts";
import type { Services } from "../services/services.ts";
import { deleteVersions, dropVersions, findSecret } from "./queries.ts";

/**
 * Begins the 30 days of confirmed secrets, and removes the secrets and versions that a change
 * purges.
 *
 * @returns the freed bytes
 * @throws Problem `keyring_change_invalid`
 */
export async function purgeContents(
  services: Pick<Services, "onContentsRemoved">,
  tx: Tx,
  { accountId, vendorId, change, now }: WrittenChange,
): Promise<number> {
  const scope = createAccountScope(accountId, vendorId);
  await confirmTrash(tx, scope, change.trash_confirm ?? [], now);
  const freedBytes = await purgeVersions(services, tx, scope, change.purge_versions ?? [], now);
  return freedBytes + (await purgeSecrets(services, tx, scope, change.purge ?? [], now));
}

/**
 * Begins the 30 days after which contents in the trash are dropped. Ignores secrets that are not in
 * it: a restore is no keyring change, and may come between.
 */
async function confirmTrash(tx: Tx, { accountId }: AccountScope, ids: readonly string[], now: Date): Promise<void> {
  if (ids.length === 0) return;
  const changeNumber = await incrementChangeCounter(tx, accountId);
  await tx
    .update(secrets)
    .set({ trashConfirmedAt: now, changeNumber })
    .where(
      and(
        eq(secrets.accountId, accountId),
        inArray(secrets.id, [...ids]),
        isNotNull(secrets.deletedAt),
        isNull(secrets.trashConfirmedAt),
      ),
    );
}

/**
 * Deletes secrets for good; their ids cannot be used again. Objects are deleted after the commit.
 *
 * @returns the freed bytes.
 * @throws Problem `keyring_change_invalid` when one is not in the trash.
 */
async function purgeSecrets(
  services: Pick<Services, "onContentsRemoved">,
  tx: Tx,
  scope: AccountScope,
  ids: readonly string[],
  now: Date,
): Promise<number> {
  if (ids.length === 0) return 0;
  const secretIds = [...ids];
  const deletedRows = await tx
    .delete(secrets)
    .where(and(eq(secrets.accountId, scope.accountId), inArray(secrets.id, secretIds), isNotNull(secrets.deletedAt)))
    .returning({ labelBytes: octetLength(secrets.label) });
  if (deletedRows.length !== ids.length)
    throw new Problem("keyring_change_invalid", { detail: "it purges a secret that is not in the trash" });
  const freedBytes = await deleteVersions(services, tx, scope, secretIds, now);
  const [singleId] = ids.length === 1 ? ids : [];
  const event: ActivityEvent = {
    kind: "secret_purged",
    count: ids.length,
    ...(singleId === undefined ? {} : { secretId: singleId }),
  };
  const changeNumber = await incrementChangeCounter(tx, scope.accountId, { event, now });
  await tx.insert(purgedSecrets).values(secretIds.map((id) => ({ accountId: scope.accountId, id, changeNumber })));
  return freedBytes + deletedRows.reduce((sum, { labelBytes }) => sum + labelBytes, 0);
}

/**
 * Drops former versions; ignores dropped ones. Their rows stay.
 *
 * @returns the freed bytes.
 * @throws Problem `keyring_change_invalid` for a current or unknown version.
 */
async function purgeVersions(
  services: Pick<Services, "onContentsRemoved">,
  tx: Tx,
  scope: AccountScope,
  purges: NonNullable<KeyringChange["purge_versions"]>,
  now: Date,
): Promise<number> {
  let freedBytes = 0;
  for (const { secret_db_id: id, versions } of purges) {
    const row = await findSecret(tx, scope, id);
    if (row === null || versions.some((version) => version >= row.version))
      throw new Problem("keyring_change_invalid", { detail: "it removes a version that is not a former one" });
    freedBytes += await dropVersions(services, tx, scope, [id], now, versions);
  }
  return freedBytes;
}
