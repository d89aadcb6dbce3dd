/**
 * Tables that are placed by a key of their own (db/schema.ts): they lead to an account, or belong
 * to nobody.
 */
export const directoryTables: readonly string[] = [
  "identities",
  "user_names",
  "public_ids",
  "rate_limits",
  "measurements",
];

/**
 * Tables whose rows a statement locks or writes without saying by an equality whose they are: a
 * distributed engine would have to ask every machine, and refuses row locks altogether. Empty for
 * what only reads, and for rows of directories.
 *
 * @param text of a statement as Drizzle writes it: names in quotes, values as `$1`
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

function getAccountColumn(table: string): string {
  return table === "accounts" ? "id" : "account_id";
}
