import { sql, type SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

/** Sort key of a list's pages, newest first. */
interface PageKey {
  readonly at: Date;
  readonly id: string;
}

/** Selects the rows after the page that ended at `cursor`. */
export function whereAfter(at: PgColumn, id: PgColumn, cursor: string | undefined): SQL | undefined {
  if (cursor === undefined) return undefined;
  const [milliseconds = "", lastId = ""] = cursor.split(".");
  return sql`(${at}, ${id}) < (${new Date(Number(milliseconds)).toISOString()}::timestamptz, ${lastId})`;
}

/** @param rows up to `limit` + 1 rows; the extra one shows that there is another page */
export function toPage<Row>(
  rows: readonly Row[],
  limit: number,
  getKey: (row: Row) => PageKey,
): { readonly rows: readonly Row[]; readonly nextCursor: string | null } {
  const pageRows = rows.slice(0, limit);
  const last = rows.length > limit ? pageRows.at(-1) : undefined;
  if (last === undefined) return { rows: pageRows, nextCursor: null };
  const { at, id } = getKey(last);
  return { rows: pageRows, nextCursor: `${String(at.getTime())}.${id}` };
}
