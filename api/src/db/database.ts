import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import { Pool } from "pg";

import { databaseFault } from "./faults.ts";
import { transact } from "./transaction.ts";

export type Db = NodePgDatabase;
export type { Tx } from "./transaction.ts";

export interface DatabaseSettings {
  readonly url: string;
  /**
   * How long a statement may take, in seconds. A lock and a connection are waited for half as long.
   */
  readonly seconds: number;
}

export interface OpenDatabase {
  readonly db: Db;
  /**
   * Runs `work` unless another process does so now. `held` is aborted when the lock is lost: then
   * another process may be at it.
   *
   * @returns whether it ran.
   */
  oneAtATime(work: (held: AbortSignal) => Promise<void>): Promise<boolean>;
  /**
   * Whether it answers at all; those who ask at once share one question. @throws what keeps it from
   * answering.
   */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Any number, the same in every release, and not that of the migrations. */
const lock = 7_235_002;

/**
 * A pool of connections; `onLost` hears of those that were lost, in use or idle. The pool replaces
 * them by itself.
 *
 * @param onStatement hears the text of every statement, without its values; a seam for tests
 */
export function openDatabase(
  { url, seconds }: DatabaseSettings,
  onLost: (error: Error) => void,
  onStatement?: (text: string) => void,
): OpenDatabase {
  const milliseconds = seconds * 1_000;
  const pool = new Pool({
    connectionString: url,
    max: 20,
    connectionTimeoutMillis: milliseconds / 2,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // A call that hangs must not hold its locks for ever.
    lock_timeout: milliseconds / 2,
    statement_timeout: milliseconds,
    idle_in_transaction_session_timeout: 3 * milliseconds,
    // A server that does not answer cannot keep its own limits.
    query_timeout: milliseconds * 1.2,
  });
  // A connection in use has no listener of the pool's: without one its loss would end the process.
  pool.on("connect", (client) => client.on("error", onLost));
  pool.on("error", () => undefined); // the same losses, of idle connections only
  const settings = onStatement === undefined ? {} : { logger: { logQuery: onStatement } };
  let pinging: Promise<unknown> | null = null;
  return {
    db: Object.assign(drizzle(pool, settings), {
      transaction: ((work, config) => transact(pool, settings, work, config)) satisfies Db["transaction"],
    }),
    oneAtATime: (work) => oneAtATime(pool, work),
    async ping() {
      pinging ??= pool.query("select 1").finally(() => {
        pinging = null;
      });
      await pinging;
    },
    close: () => pool.end(),
  };
}

/** By an advisory lock, which belongs to a connection: a killed process gives it back. */
async function oneAtATime(pool: Pool, work: (held: AbortSignal) => Promise<void>): Promise<boolean> {
  const client = await pool.connect();
  const lost = new AbortController();
  const lose = (): void => lost.abort();
  client.once("error", lose);
  try {
    const { rows } = await client.query<{ taken: boolean }>("select pg_try_advisory_lock($1) as taken", [lock]);
    if (rows[0]?.taken !== true) return false;
    try {
      await work(lost.signal);
    } finally {
      if (!lost.signal.aborted) await client.query("select pg_advisory_unlock($1)", [lock]);
    }
    return true;
  } catch (error) {
    if (databaseFault(error) !== null) lose();
    throw error;
  } finally {
    client.off("error", lose);
    client.release(lost.signal.aborted);
  }
}
