import { and, eq, exists, getTableColumns, ne, sql } from "drizzle-orm";

import { tryAgain } from "../db/faults.ts";
import { accounts, secrets } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import { changeAccount } from "../keyring/queries.ts";
import type { Services } from "../services.ts";
import type { OwnSecrets } from "./policy.ts";
import { findSecret, nextChange, writeFavorite, type SecretRow } from "./queries.ts";

/**
 * Sets or takes away a star. The call that people make most often is one statement: it holds the
 * account's row, as every write does, by counting the change on it. Where it finds nothing to
 * change it is looked at again with the account's row held: what the statement saw may have been
 * changed while it waited for the row.
 *
 * @throws Problem `not_found`
 */
export function createStars({
  db,
  calls,
}: Pick<Services, "db" | "calls">): (
  own: OwnSecrets,
  asked: { secret_db_id: string; favorite: boolean },
) => Promise<SecretRow> {
  const [account, secret, favorite] = [
    sql.placeholder("account"),
    sql.placeholder("secret"),
    sql.placeholder("favorite"),
  ];
  const isThat = and(eq(secrets.accountId, account), eq(secrets.id, secret));
  const counted = db.$with("counted").as(
    db
      .update(accounts)
      .set({ changes: sql`${accounts.changes} + 1` })
      .where(
        and(
          eq(accounts.id, account),
          exists(
            db
              .select({ one: sql`1` })
              .from(secrets)
              .where(and(isThat, ne(secrets.favorite, favorite))),
          ),
        ),
      )
      .returning({ id: accounts.id, changes: accounts.changes }),
  );
  const setStar = db
    .with(counted)
    .update(secrets)
    .set({ favorite: sql`${favorite}`, change: sql`${counted.changes}` })
    .from(counted)
    .where(and(isThat, eq(counted.id, secrets.accountId)))
    .returning(getTableColumns(secrets))
    .prepare("set_star");

  return async (own, { secret_db_id: id, favorite: wanted }) => {
    const set = (): Promise<SecretRow[]> => setStar.execute({ account: own.accountId, secret: id, favorite: wanted });
    const [row] = await calls.inTurn(own.accountId, () => tryAgain(set, (fault) => fault === "conflict"));
    return (
      row ??
      changeAccount({ db, calls }, own.accountId, async (tx) => {
        const found = await findSecret(tx, own, id);
        if (found === null) throw new Problem("not_found");
        if (found.favorite !== wanted) await writeFavorite(tx, own, id, wanted, await nextChange(tx, own.accountId));
        return { ...found, favorite: wanted };
      })
    );
  };
}
