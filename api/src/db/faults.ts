import { setTimeout as pause } from "node:timers/promises";

/** Faults of the database, not of the statement. */
export const DatabaseFault = {
  /**
   * The connection ended: uncommitted work was rolled back, a commit under way may have succeeded.
   */
  lost: "lost",
  /** No connection is available. */
  unreachable: "unreachable",
  /** Rolled back on a serialization failure or deadlock. */
  conflict: "conflict",
  /** A statement, lock or response exceeded its timeout. */
  timeout: "timeout",
} as const;
export type DatabaseFault = (typeof DatabaseFault)[keyof typeof DatabaseFault];

/** By SQLSTATE (PostgreSQL, appendix A), its class (two characters), or the system's error code. */
const faultsByCode: Readonly<Record<string, DatabaseFault>> = {
  "40001": "conflict", // serialization_failure
  "40P01": "conflict", // deadlock_detected
  "57P01": "lost", // admin_shutdown
  "57P02": "lost", // crash_shutdown
  "57P05": "lost", // idle_session_timeout
  "25P03": "lost", // idle_in_transaction_session_timeout
  "25P04": "lost", // transaction_timeout
  "57P03": "unreachable", // cannot_connect_now
  "25006": "unreachable", // read_only_sql_transaction: a standby during failover
  "3D000": "unreachable", // invalid_catalog_name: the database does not exist
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

/** Errors of pg without a code. */
const faultsByMessage: readonly (readonly [RegExp, DatabaseFault])[] = [
  [
    /^Cannot use a pool after calling end|^timeout exceeded when trying to connect|^Connection terminated due to connection timeout|^timeout expired/,
    "unreachable",
  ],
  [/^Query read timeout/, "timeout"],
  [/^Connection terminated|^Client has encountered a connection error|^Client was closed/, "lost"],
];

/**
 * Finds a database fault in an error or its causes (Drizzle wraps the driver's); null for other
 * errors.
 */
export function findDatabaseFault(error: unknown): DatabaseFault | null {
  for (const cause of collectCauses(error)) {
    if (!Error.isError(cause)) continue;
    const code = getCode(cause);
    const fault =
      faultsByCode[code] ??
      faultsByCode[code.slice(0, 2)] ??
      faultsByMessage.find(([pattern]) => pattern.test(cause.message))?.[1];
    if (fault !== undefined) return fault;
  }
  return null;
}

/** Whether a value did not fit its column (SQLSTATE class 22, data exception). */
export function isDataException(error: unknown): boolean {
  return collectCauses(error).some((cause) => Error.isError(cause) && /^22[0-9A-Z]{3}$/.test(getCode(cause)));
}

function getCode(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

const maxAttempts = 4;

/**
 * Retries `operation` on faults that `isRetryable` accepts: four attempts, with random pauses of
 * some ten milliseconds, so that transactions that collided do not collide again.
 *
 * @throws the last attempt's error.
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

/** Only for work that is safe to repeat. */
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
