import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import { Pool } from "pg";

export type Db = NodePgDatabase;
/** Inside `db.transaction` only this one is used. */
export type Tx = Parameters<Parameters<Db["transaction"]>[0]>[0];

export interface OpenDatabase {
  readonly db: Db;
  /** Runs `work` unless another process does so now. @returns whether it ran. */
  oneAtATime(work: () => Promise<void>): Promise<boolean>;
  close(): Promise<void>;
}

/** Any number, the same in every release, and not that of the migrations. */
const lock = 7_235_002;

/** A pool of connections; `onError` hears of idle connections that were lost, which the pool replaces by itself. */
export function openDatabase(url: string, onError: (error: Error) => void): OpenDatabase {
  const pool = new Pool({
    connectionString: url,
    max: 20,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    // A call that hangs must not hold its locks for ever.
    statement_timeout: 30_000,
    idle_in_transaction_session_timeout: 30_000,
  });
  pool.on("error", onError);
  return { db: drizzle(pool), oneAtATime: (work) => oneAtATime(pool, work), close: () => pool.end() };
}

/** By an advisory lock, which belongs to a connection: a killed process gives it back. */
async function oneAtATime(pool: Pool, work: () => Promise<void>): Promise<boolean> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<{ taken: boolean }>("select pg_try_advisory_lock($1) as taken", [lock]);
    if (rows[0]?.taken !== true) return false;
    try {
      await work();
    } finally {
      await client.query("select pg_advisory_unlock($1)", [lock]);
    }
    return true;
  } finally {
    client.release();
  }
}

/** True when the database cannot be reached or is going away: the caller may try again later. Drizzle wraps the driver's error. */
export function isUnreachable(error: unknown): boolean {
  return causesOf(error).some((cause) => {
    if (!Error.isError(cause)) return false;
    const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
    return (
      ["ECONNREFUSED", "ECONNRESET", "EPIPE", "ENOTFOUND", "57P01", "57P02", "57P03", "53300", "3D000"].includes(code) ||
      /timeout exceeded when trying to connect|Connection terminated/.test(cause.message)
    );
  });
}

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let cause = error; cause !== undefined && cause !== null && causes.length < 5; cause = Error.isError(cause) ? cause.cause : undefined) {
    causes.push(cause);
    if (cause instanceof AggregateError) causes.push(...(cause.errors as unknown[]));
  }
  return causes;
}
