import type { Db } from "../db/database.ts";
import { Problem } from "../http/problem.ts";
import { changeAccount, lockAccount } from "../keyring/queries.ts";
import { abandon } from "../objects/loose.ts";
import { forEachItem, type Sweeping } from "../operations/sweeping.ts";
import { addStorage } from "../secrets/queries.ts";
import type { Services } from "../services.ts";
import type { OwnUploads } from "./policy.ts";
import { deleteUpload, findUpload, readExpired, type UploadRow } from "./queries.ts";

/**
 * Gives an upload up. Its parts go at once; one that is on its way right now finds no upload and
 * goes as well.
 */
export async function cancelUpload(services: Services, own: OwnUploads, id: string): Promise<void> {
  const { db, objects, now } = services;
  const keys = await changeAccount(services, own.accountId, async (tx) => {
    const upload = await findUpload(tx, own, id, now());
    if (upload === null) throw new Problem("not_found");
    if (upload.publishedVersion !== null) throw new Problem("conflict", { detail: "this upload is published" });
    await addStorage(tx, own.accountId, -upload.size);
    return deleteUpload(tx, own.accountId, id, now());
  });
  for (const key of keys) await abandon(db, objects, own.accountId, key);
}

/** Uploads whose time is over, and the rows of those that were published a day ago. */
export function dropExpiredUploads(db: Db, sweeping: Sweeping): Promise<void> {
  const { now } = sweeping;
  return forEachItem<UploadRow>(
    sweeping,
    (last, length) => readExpired(db, now, last, length),
    ({ accountId, id }) =>
      db.transaction(async (tx) => {
        const { vendorId } = await lockAccount(tx, accountId);
        const upload = await findUpload(tx, { accountId, vendorId }, id, new Date(0));
        if (upload === null || upload.expiresAt > now) return; // a part came in between
        if (upload.publishedVersion === null) await addStorage(tx, accountId, -upload.size);
        await deleteUpload(tx, accountId, id, now);
      }),
  );
}
