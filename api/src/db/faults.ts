import { setTimeout as pause } from "node:timers/promises";

/** What the database did to a piece of work that was not the work's own fault. */
export const DatabaseFault = {
  /**
   * The connection ended under it: what was not committed is undone; what was being committed may
   * have been done.
   */
  lost: "lost",
  /** No connection is to be had. */
  unreachable: "unreachable",
  /**
   * It was undone because it could not be put in order with others (serialization failure,
   * deadlock).
   */
  conflict: "conflict",
  /** It took longer than a statement, a lock or an answer may. */
  timeout: "timeout",
} as const;
export type DatabaseFault = (typeof DatabaseFault)[keyof typeof DatabaseFault];

/**
 * By SQLSTATE (PostgreSQL, appendix A), the system's error code, or its class, the first two
 * letters.
 */
const faultsByCode: Readonly<Record<string, DatabaseFault>> = {
  "40001": "conflict", // serialization_failure
  "40P01": "conflict", // deadlock_detected
  "57P01": "lost", // admin_shutdown
  "57P02": "lost", // crash_shutdown
  "57P05": "lost", // idle_session_timeout
  "25P03": "lost", // idle_in_transaction_session_timeout
  "25P04": "lost", // transaction_timeout
  "57P03": "unreachable", // cannot_connect_now
  "25006": "unreachable", // read_only_sql_transaction: a standby, in the middle of a failover
  "3D000": "unreachable", // invalid_catalog_name: the database is not there
  "08001": "unreachable", // sqlclient_unable_to_establish_sqlconnection
  "08004": "unreachable", // sqlserver_rejected_establishment_of_sqlconnection
  "57014": "timeout", // query_canceled: statement_timeout
  "55P03": "timeout", // lock_not_available: lock_timeout
  "08": "lost", // connection_exception
  "53": "unreachable", // insufficient_resources: too many connections, disk or memory full
  ECONNRESET: "lost",
  EPIPE: "lost",
  ECONNREFUSED: "unreachable",
  EHOSTUNREACH: "unreachable",
  ENETUNREACH: "unreachable",
  ENOTFOUND: "unreachable",
  EAI_AGAIN: "unreachable",
  ETIMEDOUT: "unreachable",
};

/** What pg says without a code. */
const faultsByMessage: readonly (readonly [RegExp, DatabaseFault])[] = [
  [
    /^Cannot use a pool after calling end|^timeout exceeded when trying to connect|^Connection terminated due to connection timeout|^timeout expired/,
    "unreachable",
  ],
  [/^Query read timeout/, "timeout"],
  [/^Connection terminated|^Client has encountered a connection error|^Client was closed/, "lost"],
];

/**
 * The database's fault in an error or in one of its causes (Drizzle wraps the driver's); null when
 * it is something else.
 */
export function findDatabaseFault(error: unknown): DatabaseFault | null {
  for (const cause of collectCauses(error)) {
    if (!Error.isError(cause)) continue;
    const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
    const fault =
      faultsByCode[code] ??
      faultsByCode[code.slice(0, 2)] ??
      faultsByMessage.find(([pattern]) => pattern.test(cause.message))?.[1];
    if (fault !== undefined) return fault;
  }
  return null;
}

const maxAttempts = 4;

/**
 * Runs `operation` again while it fails by a fault that `isRetryable` names: four times at most,
 * with pauses of some ten milliseconds that differ, so that those who met do not meet again.
 *
 * @throws what the last run threw.
 */
export async function retryOnFault<T>(
  operation: () => Promise<T>,
  isRetryable: (fault: DatabaseFault) => boolean,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await operation();
    } catch (error) {
      const fault = findDatabaseFault(error);
      if (fault === null || attempt === maxAttempts || !isRetryable(fault)) throw error;
      await pause(Math.random() * 10 * 2 ** attempt);
    }
  }
}

/** For work that reads, or that may be done twice. */
export function retryOnConnectionLoss<T>(operation: () => Promise<T>): Promise<T> {
  return retryOnFault(operation, (fault) => fault === "lost");
}

function collectCauses(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (
    let cause = error;
    cause !== undefined && cause !== null && causes.length < 10;
    cause = Error.isError(cause) ? cause.cause : undefined
  ) {
    causes.push(cause);
    if (cause instanceof AggregateError) causes.push(...(cause.errors as unknown[]));
  }
  return causes;
}
