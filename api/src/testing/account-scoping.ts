/** Tables with keys of their own (db/schema.ts), which lead to accounts or belong to none. */
export const directoryTables: readonly string[] = [
  "identities",
  "user_names",
  "public_ids",
  "rate_limits",
  "measurements",
];

/**
 * Tables whose rows a statement locks or writes without an equality on the account: a distributed
 * database would have to ask every machine, and refuses such row locks. Empty for reads and for
 * directories.
 *
 * @param text a statement as Drizzle writes it: quoted names, values as `$1`
 */
export function findTablesWithoutAccount(text: string): string[] {
  const insertedTables = [...text.matchAll(/\binsert into "(\w+)" \(([^)]*)\)/g)].flatMap(
    ([, table = "", columns = ""]) => (columns.includes(`"${getAccountColumn(table)}"`) ? [] : [table]),
  );
  const writtenTables = [...text.matchAll(/\b(?:update|delete from) "(\w+)"/g)].map(([, table = ""]) => table);
  const lockedTables = /\bfor (?:no key )?(?:update|share)\b|\bfor key share\b/.test(text)
    ? [...text.matchAll(/\b(?:from|join) "(\w+)"/g)].map(([, table = ""]) => table)
    : [];
  const unscopedTables = [...writtenTables, ...lockedTables].filter(
    (table) => !new RegExp(`(?:"${table}"\\.|[( ])"?${getAccountColumn(table)}"? = \\$\\d`).test(text),
  );
  return [...new Set([...insertedTables, ...unscopedTables])].filter((table) => !directoryTables.includes(table));
}

export function getAccountColumn(table: string): string {
  return table === "accounts" ? "id" : "account_id";
}
