import type { StoredSecret } from "@relicario/shared/api";
import { eq } from "drizzle-orm";

import { accounts } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import type { Circumstances } from "../keyring/apply-change.ts";
import { changeAccount } from "../keyring/queries.ts";
import type { Services } from "../services.ts";
import { endSharesOf } from "../shares/end.ts";
import type { OwnSecrets } from "./policy.ts";
import { presentSecret } from "./present.ts";
import { addStorage, findSecret, nextChange, writeTrashed } from "./queries.ts";
import { isSameDay } from "./trash-times.ts";

/**
 * To the trash, and what it shows to others ends; what is there already stays as it is. A stolen
 * session can do this, so the first of a day is told by mail.
 */
export function trashSecret(
  services: Services,
  own: OwnSecrets,
  id: string,
  when: Circumstances,
): Promise<StoredSecret> {
  const { now } = when;
  return changeAccount(services, own.accountId, async (tx, account) => {
    const row = await findSecret(tx, own, id);
    if (row === null) throw new Problem("not_found");
    if (row.deletedAt !== null) return presentSecret(row);
    await addStorage(tx, own.accountId, -(await endSharesOf(tx, own.accountId, [id], now)));
    await writeTrashed(
      tx,
      own,
      id,
      now,
      await nextChange(tx, own.accountId, { noted: { kind: "secret_trashed", secretId: id }, now }),
    );
    if (account.trashMailAt === null || !isSameDay(account.trashMailAt, now)) {
      await services.mailer.queue(tx, own.accountId, "trashed", when);
      await tx.update(accounts).set({ trashMailAt: now }).where(eq(accounts.id, own.accountId));
    }
    return presentSecret({ ...row, deletedAt: now });
  });
}
