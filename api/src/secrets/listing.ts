import { maxPurgedIds } from "@relicario/shared/api";
import { and, asc, eq, gt, sql, type SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

import { octetLength } from "../accounts/storage-used.ts";
import type { AccountScope } from "../auth/actor.ts";
import type { Db } from "../db/database.ts";
import { accounts, keyrings, purgedSecrets, secrets } from "../db/schema.ts";
import type { RevisionCounters } from "./queries.ts";

export interface ListedPage extends RevisionCounters {
  /** A JSON list of `StoredSecret`, written by the database. */
  readonly rowsJson: string;
  readonly total: number;
  readonly nextCursor: string | null;
  /** Null without `since`, and when there are too many for one response. */
  readonly purged: readonly string[] | null;
}

export interface SecretListing {
  /** The counters of the list's ETag. */
  readCounters(scope: AccountScope): Promise<RevisionCounters>;
  /** Reads a page in one statement, so that all of it is of one moment. */
  readPage(
    scope: AccountScope,
    query: { limit: number; cursor?: string | undefined; since?: number | undefined },
  ): Promise<ListedPage>;
}

/** Bytes of labels in a page: a thousand of usual size. A page has at least one row. */
export const maxPageLabelBytes = 512 * 1024;

const accountIdPlaceholder = sql.placeholder("account");

export function createListing(db: Db): SecretListing {
  const countersQuery = db
    .select({ changes: accounts.changes, stateRev: keyrings.stateRev })
    .from(accounts)
    .leftJoin(keyrings, eq(keyrings.accountId, accounts.id))
    .where(eq(accounts.id, accountIdPlaceholder))
    .prepare("list_counters");
  const pageQueries = {
    first: preparePage(db, {}),
    next: preparePage(db, { cursor: true }),
    changed: preparePage(db, { since: true }),
    nextChanged: preparePage(db, { cursor: true, since: true }),
  };

  return {
    async readCounters({ accountId }) {
      const [row] = await countersQuery.execute({ account: accountId });
      if (row === undefined) throw new Error("the session's account does not exist");
      return { changes: row.changes, stateRev: row.stateRev ?? 0 };
    },
    async readPage({ accountId }, { limit, cursor, since }) {
      const pageQuery =
        since === undefined
          ? cursor === undefined
            ? pageQueries.first
            : pageQueries.next
          : cursor === undefined
            ? pageQueries.changed
            : pageQueries.nextChanged;
      const [result] = await pageQuery.execute({ account: accountId, cursor, since, limit, rows: limit + 1 });
      if (result === undefined) throw new Error("the session's account does not exist");
      const { changes, stateRev, total, rowsJson, rowCount: rows, fittingCount, lastId, purged } = result;
      return {
        changes,
        stateRev: stateRev ?? 0,
        rowsJson: rowsJson ?? "[]",
        total,
        nextCursor: rows > fittingCount ? lastId : null,
        purged: purged === null || purged.length > maxPurgedIds ? null : purged,
      };
    },
  };
}

/**
 * Selects one row with the account's counters and its page: rows until the labels exceed {@link
 * maxPageLabelBytes}, at least one. The database writes the rows as JSON: mapping and serializing
 * their columns here would cost more than the rest of the call.
 */
function preparePage(db: Db, { cursor = false, since = false }: { cursor?: boolean; since?: boolean }) {
  const { id, version, favorite, label, size, createdAt, updatedAt, deletedAt, trashConfirmedAt, droppedAt } = secrets;
  const accountCondition = eq(secrets.accountId, accountIdPlaceholder);
  const idWindow = sql`(order by ${id} rows unbounded preceding)`;
  const page = db.$with("page").as(
    db
      .select({
        id,
        fits: sql<boolean>`row_number() over ${idWindow} <= ${sql.placeholder("limit")} and (row_number() over ${idWindow} = 1 or sum(${octetLength(label)}) over ${idWindow} <= ${sql.raw(String(maxPageLabelBytes))})`.as(
          "fits",
        ),
        // Concatenated: json_build_object with its nulls stripped costs three times as much.
        row: sql<string>`'{"secret_db_id":"' || ${id} || '","version":' || ${version} || ',"favorite":' || ${favorite} || ',"label":' || to_json(${label}) || ',"size":' || ${size} || ${buildTimeMember("created_at", createdAt)} || ${buildTimeMember("updated_at", updatedAt)} || ${buildTimeMember("deleted_at", deletedAt)} || ${buildTimeMember("trash_confirmed_at", trashConfirmedAt)} || ${buildTimeMember("dropped_at", droppedAt)} || '}'`.as(
          "row",
        ),
      })
      .from(secrets)
      .where(
        and(
          accountCondition,
          cursor ? gt(id, sql.placeholder("cursor")) : undefined,
          since ? gt(secrets.changeNumber, sql.placeholder("since")) : undefined,
        ),
      )
      .orderBy(asc(id))
      .limit(sql.placeholder("rows")),
  );
  const fitting = sql`filter (where ${page.fits})`;
  const aggregate = db.$with("written").as(
    db
      .select({
        rowsJson: sql<string | null>`'[' || (string_agg(${page.row}, ',' order by ${page.id}) ${fitting}) || ']'`.as(
          "rows_json",
        ),
        rowCount: sql<number>`count(*)::int`.as("found"),
        fittingCount: sql<number>`(count(*) ${fitting})::int`.as("fitting"),
        lastId: sql<string | null>`(array_agg(${page.id} order by ${page.id} desc) ${fitting})[1]`.as("last"),
      })
      .from(page),
  );
  return db
    .with(page, aggregate)
    .select({
      changes: accounts.changes,
      stateRev: keyrings.stateRev,
      total: db.$count(secrets, accountCondition),
      purged: since ? selectPurgedIds(db) : sql<string[] | null>`null::uuid[]`,
      rowsJson: aggregate.rowsJson,
      rowCount: aggregate.rowCount,
      fittingCount: aggregate.fittingCount,
      lastId: aggregate.lastId,
    })
    .from(accounts)
    .leftJoin(keyrings, eq(keyrings.accountId, accounts.id))
    .crossJoin(aggregate)
    .where(eq(accounts.id, accountIdPlaceholder))
    .prepare(`list_page${cursor ? "_next" : ""}${since ? "_since" : ""}`);
}

/** A JSON member with the time as of `Date.toISOString`, after a comma; nothing for null. */
function buildTimeMember(name: string, column: PgColumn): SQL {
  return sql`coalesce(${sql.raw(`',"${name}":"'`)} || to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"', '')`;
}

function selectPurgedIds(db: Db): SQL<string[]> {
  const { accountId, id, changeNumber } = purgedSecrets;
  const purgedIds = db
    .select({ id })
    .from(purgedSecrets)
    .where(and(eq(accountId, accountIdPlaceholder), gt(changeNumber, sql.placeholder("since"))))
    .orderBy(asc(id))
    .limit(maxPurgedIds + 1);
  return sql<string[]>`array(${purgedIds})`;
}
