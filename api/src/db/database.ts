import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import { Pool } from "pg";

import { findDatabaseFault } from "./faults.ts";
import { runTransaction, type Tx } from "./transaction.ts";

export type Db = NodePgDatabase;
export type { Tx };

export interface DatabaseSettings {
  readonly url: string;
  /**
   * How long a statement may take, in seconds. A lock and a connection are waited for half as long.
   */
  readonly timeoutSeconds: number;
}

export interface Database {
  readonly db: Db;
  /**
   * Runs `task` unless another process does so now. `lockSignal` is aborted when the lock is lost:
   * then another process may be at it.
   *
   * @returns whether it ran.
   */
  runExclusively(task: (lockSignal: AbortSignal) => Promise<void>): Promise<boolean>;
  /**
   * Whether it answers at all; those who ask at once share one question. @throws what keeps it from
   * answering.
   */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Any number, the same in every release, and not that of the migrations. */
const exclusiveTaskLockKey = 7_235_002;

/**
 * A pool of connections; `onConnectionLost` hears of those that were lost, in use or idle. The pool
 * replaces them by itself.
 *
 * @param onStatement hears the text of every statement, without its values; a seam for tests
 */
export function openDatabase(
  { url, timeoutSeconds }: DatabaseSettings,
  onConnectionLost: (error: Error) => void,
  onStatement?: (text: string) => void,
): Database {
  const timeoutMilliseconds = timeoutSeconds * 1_000;
  const pool = new Pool({
    connectionString: url,
    max: 20,
    connectionTimeoutMillis: timeoutMilliseconds / 2,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // A call that hangs must not hold its locks for ever.
    lock_timeout: timeoutMilliseconds / 2,
    statement_timeout: timeoutMilliseconds,
    idle_in_transaction_session_timeout: 3 * timeoutMilliseconds,
    // A server that does not answer cannot keep its own limits.
    query_timeout: timeoutMilliseconds * 1.2,
  });
  // A connection in use has no listener of the pool's: without one its loss would end the process.
  pool.on("connect", (client) => client.on("error", onConnectionLost));
  pool.on("error", () => undefined); // the same losses, of idle connections only
  const drizzleConfig = onStatement === undefined ? {} : { logger: { logQuery: onStatement } };
  let pendingPing: Promise<unknown> | null = null;
  return {
    db: Object.assign(drizzle(pool, drizzleConfig), {
      transaction: ((task, config) => runTransaction(pool, drizzleConfig, task, config)) satisfies Db["transaction"],
    }),
    runExclusively: (task) => runExclusively(pool, task),
    async ping() {
      pendingPing ??= pool.query("select 1").finally(() => {
        pendingPing = null;
      });
      await pendingPing;
    },
    close: () => pool.end(),
  };
}

/** By an advisory lock, which belongs to a connection: a killed process gives it back. */
async function runExclusively(pool: Pool, task: (lockSignal: AbortSignal) => Promise<void>): Promise<boolean> {
  const client = await pool.connect();
  const lockController = new AbortController();
  const signalLockLoss = (): void => lockController.abort();
  client.once("error", signalLockLoss);
  try {
    const { rows } = await client.query<{ acquired: boolean }>("select pg_try_advisory_lock($1) as acquired", [
      exclusiveTaskLockKey,
    ]);
    if (rows[0]?.acquired !== true) return false;
    try {
      await task(lockController.signal);
    } finally {
      if (!lockController.signal.aborted) await client.query("select pg_advisory_unlock($1)", [exclusiveTaskLockKey]);
    }
    return true;
  } catch (error) {
    if (findDatabaseFault(error) !== null) signalLockLoss();
    throw error;
  } finally {
    client.off("error", signalLockLoss);
    client.release(lockController.signal.aborted);
  }
}

/** All its reads are of one moment. */
export function withSnapshot<T>(db: Db, read: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction(read, { isolationLevel: "repeatable read", accessMode: "read only" });
}
