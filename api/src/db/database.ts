import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import { Pool } from "pg";

export type Db = NodePgDatabase;
/** Inside `db.transaction` only this one is used. */
export type Tx = Parameters<Parameters<Db["transaction"]>[0]>[0];

export interface OpenDatabase {
  readonly db: Db;
  readonly pool: Pool;
}

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
  return { pool, db: drizzle(pool) };
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
