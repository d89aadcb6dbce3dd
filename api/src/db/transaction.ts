import type { DrizzleConfig } from "drizzle-orm";
import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Pool } from "pg";

import { findDatabaseFault, retryOnFault } from "./faults.ts";

type Transaction = NodePgDatabase["transaction"];
/** Inside `db.transaction` only this one is used. */
export type Tx = Parameters<Parameters<Transaction>[0]>[0];

/**
 * Drizzle's transaction on a connection of the pool, and what it leaves to its caller:
 *
 * - After a deadlock, a serialization failure or the loss of its connection the work is run again,
 *   from its beginning: it may touch nothing but rows. Where the connection was lost after COMMIT
 *   was sent it is not: it may have taken place.
 * - A connection that is lost or does not answer is ended, also when BEGIN fails; it never goes
 *   back to the pool.
 * - What went wrong first is thrown, not what a ROLLBACK said after it.
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
            if (isUnusable(error)) release(error); // else the ROLLBACK would wait for it as well
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

/** After these it is not known what the connection is at. */
function isUnusable(error: unknown): boolean {
  const fault = findDatabaseFault(error);
  return fault === "lost" || fault === "timeout" || fault === "unreachable";
}
