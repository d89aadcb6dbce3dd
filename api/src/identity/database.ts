import { traceStatements } from "@relicario/tooling/tracing";
import { Pool } from "pg";

import { migrations } from "./migrations.ts";

/** Any number, the same in every process. */
const migrationLockKey = 730_214_001;

/**
 * @param onConnectionLost called for each lost connection, in use or idle
 * @param timeoutSeconds of a connection and of a query
 */
export function openPool(url: string, onConnectionLost: (error: Error) => void, timeoutSeconds = 10): Pool {
  const timeoutMilliseconds = timeoutSeconds * 1_000;
  const pool = new Pool({
    connectionString: url,
    max: 10,
    connectionTimeoutMillis: timeoutMilliseconds,
    query_timeout: timeoutMilliseconds,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: "relicario identity",
  });
  // unhandled, the loss would end the process
  pool.on("connect", (client) => client.on("error", onConnectionLost));
  pool.on("error", () => undefined); // already reported above, for idle connections
  traceStatements(pool);
  return pool;
}

/** Migrates the database. Processes that start together wait for each other. */
export async function migrate(pool: Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock($1)", [migrationLockKey]);
    await client.query(
      "create table if not exists migrations (id integer primary key, applied_at timestamptz not null default now())",
    );
    const appliedIds = new Set(
      (await client.query<{ id: number }>("select id from migrations")).rows.map((row) => row.id),
    );
    for (const { id, sql } of migrations) {
      if (appliedIds.has(id)) continue;
      await client.query(sql);
      await client.query("insert into migrations (id) values ($1)", [id]);
    }
    await client.query("commit");
  } catch (error) {
    // fails when the connection is lost: the server has rolled back
    await client.query("rollback").catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}

const rowsPerBatch = 5_000;

/** Statements that delete the oldest rows first, by the indexes on their times. */
const expiredRows = [
  // A used code must stay as long as tokens of its grant may live: at most an hour. An ended
  // session must stay longer than the requests that came before its end.
  `delete from provider_records where ctid in (select ctid from provider_records
   where expires_at < now() and (model not in ('AuthorizationCode', 'Session') or expires_at < now() - interval '1 hour')
   order by expires_at limit $1)`,
  "delete from attempts where ctid in (select ctid from attempts where ends_at < now() order by ends_at limit $1)",
];

/**
 * Deletes expired rows, which queries ignore anyway, to keep the tables small. Goes in batches,
 * between which other calls proceed.
 */
export async function deleteExpiredRows(pool: Pool, signal?: AbortSignal): Promise<void> {
  for (const statement of expiredRows)
    for (let deleted = rowsPerBatch; deleted === rowsPerBatch && signal?.aborted !== true;)
      deleted = (await pool.query(statement, [rowsPerBatch])).rowCount ?? 0;
}
