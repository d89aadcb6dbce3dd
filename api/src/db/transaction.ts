import type { DrizzleConfig } from "drizzle-orm";
import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Pool } from "pg";

import { findDatabaseFault, retryOnFault } from "./faults.ts";

type Transaction = NodePgDatabase["transaction"];
/** Statements inside `db.transaction` must use it. */
export type Tx = Parameters<Parameters<Transaction>[0]>[0];

/**
 * Drizzle's transaction on a connection of the pool, with what Drizzle leaves to its caller:
 *
 * - After a deadlock, a serialization failure or a lost connection the work runs again from its
 *   start, so it may change only rows. It does not run again when the connection was lost after
 *   COMMIT was sent: the commit may have succeeded.
 * - A connection that was lost or does not respond is closed and never returns to the pool, also
 *   when BEGIN fails.
 * - Throws the first error, not that of the ROLLBACK after it.
 */
export async function runTransaction<T>(
  pool: Pool,
  drizzleConfig: DrizzleConfig,
  operation: (tx: Tx) => Promise<T>,
  transactionConfig?: Parameters<Transaction>[1],
): Promise<T> {
  let isCommitting = false;
  return retryOnFault(
    async () => {
      isCommitting = false;
      const client = await pool.connect();
      let isCheckedOut = true;
      const firstFailure: { error?: unknown } = {};
      const release = (error?: unknown): void => {
        if (isCheckedOut) client.release(isUnusable(error));
        isCheckedOut = false;
      };
      try {
        return await drizzle(client, drizzleConfig).transaction(async (tx) => {
          try {
            const result = await operation(tx);
            isCommitting = true;
            return result;
          } catch (error) {
            firstFailure.error = error;
            if (isUnusable(error)) release(error); // otherwise the ROLLBACK would wait for it too
            throw error;
          }
        }, transactionConfig);
      } catch (error) {
        release(error);
        throw "error" in firstFailure ? firstFailure.error : error;
      } finally {
        release();
      }
    },
    (fault) => fault === "conflict" || (fault === "lost" && !isCommitting),
  );
}

/** Faults that leave the connection in an unknown state. */
function isUnusable(error: unknown): boolean {
  const fault = findDatabaseFault(error);
  return fault === "lost" || fault === "timeout" || fault === "unreachable";
}
