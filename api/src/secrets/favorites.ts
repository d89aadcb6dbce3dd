import { and, eq, exists, getTableColumns, ne, sql } from "drizzle-orm";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { incrementChangeCounter } from "../accounts/change-counter.ts";
import type { AccountScope } from "../auth/actor.ts";
import { retryOnFault } from "../db/faults.ts";
import { accounts, secrets } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import type { Services } from "../services/services.ts";
import { findSecret, writeFavorite, type SecretRow } from "./queries.ts";

/**
 * Sets or removes a star. As the most frequent write it is one statement, which locks the account's
 * row by updating its counter. When the statement changes nothing, the star is checked again with
 * the row locked: the statement may have waited for a writer that outdated its snapshot.
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
  const secretCondition = and(eq(secrets.accountId, accountIdPlaceholder), eq(secrets.id, secretIdPlaceholder));
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
              .where(and(secretCondition, ne(secrets.favorite, favoritePlaceholder))),
          ),
        ),
      )
      .returning({ id: accounts.id, changes: accounts.changes }),
  );
  const favoriteUpdate = db
    .with(accountUpdate)
    .update(secrets)
    .set({ favorite: sql`${favoritePlaceholder}`, changeNumber: sql`${accountUpdate.changes}` })
    .from(accountUpdate)
    .where(and(secretCondition, eq(accountUpdate.id, secrets.accountId)))
    .returning(getTableColumns(secrets))
    .prepare("set_star");

  return async (scope, { secret_db_id: id, favorite: isFavorite }) => {
    const executeUpdate = (): Promise<SecretRow[]> =>
      favoriteUpdate.execute({ account: scope.accountId, secret: id, favorite: isFavorite });
    const [row] = await concurrency.runWriteExclusive(scope.accountId, () =>
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
