import type { AccountScope } from "../auth/actor.ts";
import type { Db, Tx } from "../db/database.ts";
import { Problem } from "../http/problem.ts";
import { createObjectKey } from "../objects/orphaned-objects.ts";
import { getNextVersion } from "../secrets/signed-call.ts";
import type { Services } from "../services/services.ts";
import { findUpload, extendUpload, type UploadRow } from "./queries.ts";
import type { PartsTarget } from "./receive-part.ts";
import { getUploadExpiry } from "./start.ts";

/** Opens an upload for receiving parts. @throws Problem `not_found`, `conflict` once published */
export async function openUpload({ db, now }: Services, scope: AccountScope, id: string): Promise<PartsTarget> {
  const { accountId } = scope;
  const requireOpen = async (executor: Db | Tx): Promise<UploadRow> => {
    const upload = await findUpload(executor, scope, id, now());
    if (upload === null) throw new Problem("not_found");
    if (upload.publishedVersion !== null) throw new Problem("conflict", { detail: "this upload is published" });
    return upload;
  };
  const { size, partSize, secretId, baseVersion } = await requireOpen(db);
  return {
    ...{ accountId, id, size, partSize },
    createObjectKey: () => createObjectKey(accountId, secretId, getNextVersion(baseVersion ?? undefined)),
    requireOpen: async (executor) => {
      await requireOpen(executor);
    },
    recordPart: (tx) => extendUpload(tx, scope, id, getUploadExpiry(now())),
  };
}
