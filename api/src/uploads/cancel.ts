import { lte } from "drizzle-orm";

import { lockedTransaction, withLockedAccount } from "../accounts/lock-account.ts";
import { adjustStorageUsed } from "../accounts/storage-used.ts";
import { createAccountScope, type AccountScope } from "../auth/actor.ts";
import { uploads } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { discardObject } from "../objects/orphaned-objects.ts";
import { forEachDue, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";
import { deleteUpload, findUpload } from "./queries.ts";

/**
 * Cancels an upload and deletes its parts. A part that is being received fails and is discarded.
 */
export async function cancelUpload(services: Services, scope: AccountScope, id: string): Promise<void> {
  const { db, objects, now } = services;
  const keys = await withLockedAccount(services, scope.accountId, async (tx) => {
    const upload = await findUpload(tx, scope, id, now());
    if (upload === null) throw new Problem("not_found");
    if (upload.publishedVersion !== null) throw new Problem("conflict", { detail: "this upload is published" });
    await adjustStorageUsed(tx, scope.accountId, -upload.size);
    return deleteUpload(tx, scope.accountId, id, now());
  });
  for (const key of keys) await discardObject(db, objects, scope.accountId, key);
}

/** Deletes expired uploads, and published ones after a day. */
export function deleteExpiredUploads({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const { now } = context;
  const { accountId: ownerId, id: uploadId, expiresAt } = uploads;
  return forEachDue(db, context, { accountId: ownerId, id: uploadId }, lte(expiresAt, now), ({ accountId, id }) =>
    lockedTransaction(db, accountId, async (tx, { vendorId }) => {
      const upload = await findUpload(tx, createAccountScope(accountId, vendorId), id, new Date(0));
      if (upload === null || upload.expiresAt > now) return; // a part came meanwhile
      if (upload.publishedVersion === null) await adjustStorageUsed(tx, accountId, -upload.size);
      await deleteUpload(tx, accountId, id, now);
    }),
  );
}
