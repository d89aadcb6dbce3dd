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
  overdue: "overdue",
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
  "57014": "overdue", // query_canceled: statement_timeout
  "55P03": "overdue", // lock_not_available: lock_timeout
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
const faultsByWords: readonly (readonly [RegExp, DatabaseFault])[] = [
  [
    /^Cannot use a pool after calling end|^timeout exceeded when trying to connect|^Connection terminated due to connection timeout|^timeout expired/,
    "unreachable",
  ],
  [/^Query read timeout/, "overdue"],
  [/^Connection terminated|^Client has encountered a connection error|^Client was closed/, "lost"],
];

/**
 * The database's fault in an error or in one of its causes (Drizzle wraps the driver's); null when
 * it is something else.
 */
export function databaseFault(error: unknown): DatabaseFault | null {
  for (const cause of causesOf(error)) {
    if (!Error.isError(cause)) continue;
    const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
    const fault =
      faultsByCode[code] ??
      faultsByCode[code.slice(0, 2)] ??
      faultsByWords.find(([words]) => words.test(cause.message))?.[1];
    if (fault !== undefined) return fault;
  }
  return null;
}

const attempts = 4;

/**
 * Runs `work` once more while it fails by a fault that `mayAgain` names: four times at most, with
 * pauses of some ten milliseconds that differ, so that those who met do not meet again.
 *
 * @throws what the last run threw.
 */
export async function tryAgain<T>(work: () => Promise<T>, mayAgain: (fault: DatabaseFault) => boolean): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const fault = databaseFault(error);
      if (fault === null || attempt === attempts || !mayAgain(fault)) throw error;
      await pause(Math.random() * 10 * 2 ** attempt);
    }
  }
}

/** For work that reads, or that may be done twice. */
export function whileLost<T>(work: () => Promise<T>): Promise<T> {
  return tryAgain(work, (fault) => fault === "lost");
}

function causesOf(error: unknown): unknown[] {
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
