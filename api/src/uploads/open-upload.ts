import type { AccountScope } from "../auth/actor.ts";
import type { Db, Tx } from "../db/database.ts";
import { Problem } from "../http/problem.ts";
import { getNextVersion } from "../secrets/signed-call.ts";
import type { Services } from "../services/services.ts";
import { findUpload, extendUpload, type UploadRow } from "./queries.ts";
import type { PartsTarget } from "./receive-part.ts";
import { getUploadExpiry } from "./start.ts";

/** An upload that takes parts. @throws Problem `not_found`, `conflict` once it is published. */
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
    objectPrefix: `${accountId}/${secretId}/${String(getNextVersion(baseVersion ?? undefined))}-`,
    requireOpen: async (executor) => {
      await requireOpen(executor);
    },
    extend: (tx) => extendUpload(tx, scope, id, getUploadExpiry(now())),
  };
}
