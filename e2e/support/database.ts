import type { RunningPortal } from "@relicario/tooling/portal";
import { Client, escapeIdentifier } from "pg";

/** Runs one statement on the service's database, as an operator might. */
export async function runSql(portal: RunningPortal, statement: string): Promise<void> {
  const client = new Client({ connectionString: portal.getDatabaseUrl("relicario") });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Number of rows in a table of the service. */
export async function countRows(portal: RunningPortal, table: string): Promise<number> {
  const client = new Client({ connectionString: portal.getDatabaseUrl("relicario") });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::int as count from ${escapeIdentifier(table)}`,
    );
    return rows[0]?.count ?? 0;
  } finally {
    await client.end();
  }
}

/**
 * Returns every row of every table of the service and the identity provider as text, because
 * compression would hide it in the files.
 */
export async function dumpDatabase(portal: RunningPortal): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (const database of ["relicario", "relicario_identity"] as const) {
    const client = new Client({ connectionString: portal.getDatabaseUrl(database) });
    await client.connect();
    const tables = await client.query<{ schema: string; name: string }>(
      "select table_schema as schema, table_name as name from information_schema.tables where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')",
    );
    for (const { schema, name } of tables.rows) {
      const rows = await client.query<{ row: string }>(
        `select t::text as row from ${escapeIdentifier(schema)}.${escapeIdentifier(name)} t`,
      );
      parts.push(...rows.rows.map(({ row }) => Buffer.from(`${row}\n`)));
    }
    await client.end();
  }
  return Buffer.concat(parts);
}
