import { Pool } from "pg";

import { migrations } from "./migrations.ts";

/** Any number will do, as long as every process takes the same. */
const migrationLockKey = 730_214_001;

/**
 * @param timeoutSeconds how long a connection, or an answer, is waited for; `onLost` hears of
 *   connections that ended, in use or idle
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
  // without a listener its loss would end the process
  pool.on("connect", (client) => client.on("error", onConnectionLost));
  pool.on("error", () => undefined); // the same losses, of idle connections only
  return pool;
}

/** Brings the database up to date. Processes that start at once wait for each other. */
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
    // the connection is gone: the server has rolled back by itself
    await client.query("rollback").catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}

/**
 * Removes what has expired. Finding ignores expired rows anyway; this only keeps the tables small.
 */
export async function deleteExpiredRows(pool: Pool): Promise<void> {
  // A consumed code is kept as long as its grant may live in tokens: an hour is plenty for both.
  await pool.query("delete from provider_records where expires_at < now() - interval '1 hour'");
  await pool.query("delete from attempts where ends_at < now()");
}
