import { and, eq, exists, getTableColumns, ne, sql } from "drizzle-orm";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { incrementChangeCounter } from "../accounts/next-change.ts";
import type { AccountScope } from "../auth/actor.ts";
import { retryOnFault } from "../db/faults.ts";
import { accounts, secrets } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import type { Services } from "../services/services.ts";
import { findSecret, writeFavorite, type SecretRow } from "./queries.ts";

/**
 * Sets or takes away a star. The call that people make most often is one statement: it holds the
 * account's row, as every write does, by counting the change on it. Where it finds nothing to
 * change it is looked at again with the account's row held: what the statement saw may have been
 * changed while it waited for the row.
 *
 * @throws Problem `not_found`
 */
export function createFavoriteSetter({
  db,
  concurrency,
}: Pick<Services, "db" | "concurrency">): (
  scope: AccountScope,
  body: { secret_db_id: string; favorite: boolean },
) => Promise<SecretRow> {
  const [accountIdPlaceholder, secretIdPlaceholder, favoritePlaceholder] = [
    sql.placeholder("account"),
    sql.placeholder("secret"),
    sql.placeholder("favorite"),
  ];
  const isSecret = and(eq(secrets.accountId, accountIdPlaceholder), eq(secrets.id, secretIdPlaceholder));
  const accountUpdate = db.$with("counted").as(
    db
      .update(accounts)
      .set({ changes: sql`${accounts.changes} + 1` })
      .where(
        and(
          eq(accounts.id, accountIdPlaceholder),
          exists(
            db
              .select({ one: sql`1` })
              .from(secrets)
              .where(and(isSecret, ne(secrets.favorite, favoritePlaceholder))),
          ),
        ),
      )
      .returning({ id: accounts.id, changes: accounts.changes }),
  );
  const favoriteUpdate = db
    .with(accountUpdate)
    .update(secrets)
    .set({ favorite: sql`${favoritePlaceholder}`, change: sql`${accountUpdate.changes}` })
    .from(accountUpdate)
    .where(and(isSecret, eq(accountUpdate.id, secrets.accountId)))
    .returning(getTableColumns(secrets))
    .prepare("set_star");

  return async (scope, { secret_db_id: id, favorite: isFavorite }) => {
    const executeUpdate = (): Promise<SecretRow[]> =>
      favoriteUpdate.execute({ account: scope.accountId, secret: id, favorite: isFavorite });
    const [row] = await concurrency.runExclusive(scope.accountId, () =>
      retryOnFault(executeUpdate, (fault) => fault === "conflict"),
    );
    return (
      row ??
      withLockedAccount({ db, concurrency }, scope.accountId, async (tx) => {
        const secretRow = await findSecret(tx, scope, id);
        if (secretRow === null) throw new Problem("not_found");
        if (secretRow.favorite !== isFavorite)
          await writeFavorite(tx, scope, id, isFavorite, await incrementChangeCounter(tx, scope.accountId));
        return { ...secretRow, favorite: isFavorite };
      })
    );
  };
}
