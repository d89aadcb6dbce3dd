import type { StoredSecret } from "@relicario/shared/api";
import { eq } from "drizzle-orm";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { incrementChangeCounter } from "../accounts/change-counter.ts";
import { adjustStorageUsed } from "../accounts/storage-used.ts";
import type { AccountScope } from "../auth/actor.ts";
import { accounts } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import type { RequestContext } from "../language/language.ts";
import type { Services } from "../services/services.ts";
import { presentSecret } from "./present.ts";
import { findSecret, markTrashed } from "./queries.ts";
import { isSameUtcDay } from "./trash-times.ts";

/**
 * Moves a secret to the trash and ends its shares. Idempotent. A stolen session can do this, so the
 * first of a day causes a mail.
 */
export function trashSecret(
  services: Services,
  scope: AccountScope,
  id: string,
  context: RequestContext,
): Promise<StoredSecret> {
  const { now } = context;
  return withLockedAccount(services, scope.accountId, async (tx, account) => {
    const row = await findSecret(tx, scope, id);
    if (row === null) throw new Problem("not_found");
    if (row.deletedAt !== null) return presentSecret(row);
    await adjustStorageUsed(
      tx,
      scope.accountId,
      -(await services.onContentsRemoved(tx, scope.accountId, { secretIds: [id] }, now)),
    );
    await markTrashed(
      tx,
      scope,
      id,
      now,
      await incrementChangeCounter(tx, scope.accountId, { event: { kind: "secret_trashed", secretId: id }, now }),
    );
    if (account.trashMailAt === null || !isSameUtcDay(account.trashMailAt, now)) {
      await services.mailer.queue(tx, scope.accountId, "trashed", context);
      await tx.update(accounts).set({ trashMailAt: now }).where(eq(accounts.id, scope.accountId));
    }
    return presentSecret({ ...row, deletedAt: now });
  });
}
