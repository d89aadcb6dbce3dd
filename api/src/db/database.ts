import { randomUUID } from "node:crypto";

import { traceStatements } from "@relicario/tooling/tracing";
import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import { DatabaseError, Pool } from "pg";

import { findDatabaseFault } from "./faults.ts";
import { countConnections, type ConnectionCounts } from "./measure-pool.ts";
import { runTransaction, type Tx } from "./transaction.ts";

export type Db = NodePgDatabase;
export type { Tx };

export interface DatabaseServerSettings {
  /** With `?pooler=transaction` when a pooler shares connections between transactions. */
  readonly url: string;
  /** Timeout of a statement, in seconds. Locks and connections have half of it. */
  readonly timeoutSeconds: number;
}

interface DatabaseStatus {
  /** Seconds that the database's clock is ahead. */
  readonly skewSeconds: number;
  /** Share of accounts whose rows cannot be read, 0 to below 1: their shard is lost. */
  readonly unreachableRatio: number;
}

/** The database answers, but cannot serve calls. The message says what to change, in one line. */
export class UnfitDatabaseError extends Error {
  override readonly name = "UnfitDatabaseError";
}

export interface Database {
  readonly db: Db;
  /**
   * Runs `task` unless another process is running a task. `lockSignal` is aborted when the lock is
   * lost: another process may then start a task.
   *
   * @returns whether it ran.
   */
  runExclusively(task: (lockSignal: AbortSignal) => Promise<void>): Promise<boolean>;
  /**
   * Runs prepared statements on rows of some accounts, as calls do. Concurrent pings share them.
   *
   * @throws UnfitDatabaseError, or the error with which calls would fail
   */
  ping(): Promise<DatabaseStatus>;
  countConnections(): ConnectionCounts;
  close(): Promise<void>;
}

/** Any number, the same in every release; differs from the migrations' lock. */
const exclusiveTaskLockKey = 7_235_002;

/** Accounts of a ping: with half of the shards lost, one ping in 256 finds no other. */
const probedAccounts = 8;
/** Time limit of one of them: the machine of a lost shard may be silent. */
const probeMilliseconds = 1_000;

/** A pooler refuses limits of a connection: its role needs them. */
export function isTransactionPooled(url: string): boolean {
  return new URL(url).searchParams.get("pooler") === "transaction";
}

/**
 * Opens a pool of connections, which replaces lost ones.
 *
 * @param onConnectionLost called for each lost connection, in use or idle
 * @param onStatement called with the text of every statement, without values; for tests
 */
export function openDatabase(
  { url, timeoutSeconds }: DatabaseServerSettings,
  onConnectionLost: (error: Error) => void,
  onStatement?: (text: string) => void,
): Database {
  const timeoutMilliseconds = timeoutSeconds * 1_000;
  const isPooled = isTransactionPooled(url);
  // A hanging call must not hold its locks forever.
  const limits: ConnectionLimits = {
    lock_timeout: timeoutMilliseconds / 2,
    statement_timeout: timeoutMilliseconds,
    idle_in_transaction_session_timeout: 3 * timeoutMilliseconds,
  };
  const pool = new Pool({
    connectionString: url,
    max: 20,
    connectionTimeoutMillis: timeoutMilliseconds / 2,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    ...(isPooled ? {} : limits),
    // The server cannot enforce its own limits when it does not respond.
    query_timeout: timeoutMilliseconds * 1.2,
  });
  // The pool handles no errors of connections in use: an unhandled loss would end the process.
  pool.on("connect", (client) => client.on("error", onConnectionLost));
  pool.on("error", () => undefined); // already reported above, for idle connections
  traceStatements(pool);
  const drizzleConfig = onStatement === undefined ? {} : { logger: { logQuery: onStatement } };
  let pendingPing: Promise<DatabaseStatus> | null = null;
  return {
    db: Object.assign(drizzle(pool, drizzleConfig), {
      transaction: ((task, config) => runTransaction(pool, drizzleConfig, task, config)) satisfies Db["transaction"],
    }),
    runExclusively: (task) => runExclusively(pool, task),
    ping() {
      pendingPing ??= ping(pool, isPooled ? limits : null).finally(() => {
        pendingPing = null;
      });
      return pendingPing;
    },
    countConnections: () => countConnections(pool),
    close: () => pool.end(),
  };
}

/** Milliseconds by setting. */
type ConnectionLimits = Readonly<
  Record<"lock_timeout" | "statement_timeout" | "idle_in_transaction_session_timeout", number>
>;

/**
 * Reads no rows, then those of random accounts: in a distributed database each may be on another
 * machine.
 *
 * @param poolerLimits that the role needs; null without a pooler
 */
async function ping(pool: Pool, poolerLimits: ConnectionLimits | null): Promise<DatabaseStatus> {
  const sentAt = Date.now();
  // A pooler that keeps prepared statements gives them names of its own.
  const { rows } = await pool
    .query<{ now: number; isStandby: boolean; hasOwnName: boolean }>({
      name: "ping",
      text: `select extract(epoch from clock_timestamp())::float8 as now, pg_is_in_recovery() as "isStandby",
             exists (select from pg_prepared_statements where name = 'ping') as "hasOwnName"`,
    })
    .catch((error: unknown) => {
      throw explainPoolerError(error);
    });
  const [row] = rows;
  const skewSeconds = (row?.now ?? 0) - (sentAt + Date.now()) / 2_000;
  if (row === undefined || row.isStandby) throw new UnfitDatabaseError("the database is a standby");
  if (poolerLimits !== null) {
    if (row.hasOwnName) throw new UnfitDatabaseError(noPreparedStatements);
    await requireLimits(pool, poolerLimits);
  }
  const probes = await Promise.allSettled(Array.from({ length: probedAccounts }, () => probeAccount(pool)));
  const failures = probes.filter((probe) => probe.status === "rejected");
  const [failure] = failures;
  if (failure !== undefined && failures.length === probes.length) throw explainPoolerError(failure.reason);
  return { skewSeconds, unreachableRatio: failures.length / probes.length };
}

function probeAccount(pool: Pool): Promise<unknown> {
  const probe = {
    name: "ping_account",
    text: "select count(*) from sessions where account_id = $1 and id = $1",
    values: [randomUUID()],
    query_timeout: probeMilliseconds,
  };
  return pool.query(probe);
}

const noPreparedStatements = "the pooler keeps no prepared statements: set max_prepared_statements";

/** SQLSTATEs of PostgreSQL, appendix A; the pooler's own refusal has a message. */
function explainPoolerError(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  if (error.code === "26000" || error.code === "42P05")
    return new UnfitDatabaseError(noPreparedStatements, { cause: error });
  return error.message.startsWith("unsupported startup parameter")
    ? new UnfitDatabaseError("a pooler is in between: add ?pooler=transaction to DATABASE_URL", { cause: error })
    : error;
}

async function requireLimits(pool: Pool, limits: ConnectionLimits): Promise<void> {
  const { rows } = await pool.query<{ name: keyof ConnectionLimits; milliseconds: number }>(
    "select name, setting::float8 as milliseconds from pg_settings where name = any($1)",
    [Object.keys(limits)],
  );
  const changes = rows
    .filter(({ name, milliseconds }) => milliseconds === 0 || milliseconds > limits[name])
    .map(({ name }) => `alter role … set ${name} = ${String(limits[name])}`)
    .sort();
  if (changes.length > 0) throw new UnfitDatabaseError(`the database's role has no limits: ${changes.join("; ")}`);
}

/**
 * Uses an advisory lock of a transaction, which poolers keep on one connection, and which the
 * server releases with the connection of a killed process.
 */
async function runExclusively(pool: Pool, task: (lockSignal: AbortSignal) => Promise<void>): Promise<boolean> {
  const client = await pool.connect();
  const lockController = new AbortController();
  const signalLockLoss = (): void => lockController.abort();
  client.once("error", signalLockLoss);
  try {
    // The transaction waits idle for the task.
    await client.query("begin; set local idle_in_transaction_session_timeout = 0");
    try {
      const { rows } = await client.query<{ acquired: boolean }>("select pg_try_advisory_xact_lock($1) as acquired", [
        exclusiveTaskLockKey,
      ]);
      if (rows[0]?.acquired !== true) return false;
      await task(lockController.signal);
    } finally {
      if (!lockController.signal.aborted) await client.query("commit");
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

/** Runs all reads on one snapshot. */
export function withSnapshot<T>(db: Db, read: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction(read, { isolationLevel: "repeatable read", accessMode: "read only" });
}
