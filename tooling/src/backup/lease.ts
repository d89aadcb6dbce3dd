import { Client, DatabaseError } from "pg";

import { UserFacingError } from "../user-facing-error.ts";

/**
 * Advisory lock of api/src/objects/orphaned-objects.ts, which holds it shared while it deletes
 * objects.
 */
const leaseLockKey = 7_235_003;

/** Longest wait for a running deletion of objects, or for another backup. */
const lockTimeout = "60s";

export interface Lease {
  readonly client: Client;
  /** @throws UserFacingError when the lock was lost: referenced objects may have been deleted */
  assertHeld(): Promise<void>;
  release(): Promise<void>;
}

/** Keeps the service from deleting objects, until the lease is released or its connection ends. */
export async function acquireLease(url: string): Promise<Lease> {
  const client = await connectToDatabase(url);
  try {
    await client.query(`set lock_timeout = '${lockTimeout}'`);
    await client.query("select pg_advisory_lock($1)", [leaseLockKey]);
  } catch (cause) {
    await client.end();
    if (cause instanceof DatabaseError && cause.code === "55P03")
      throw new UserFacingError("Another backup, or a check, is running: try again when it is done.", { cause });
    throw cause;
  }
  return {
    client,
    async assertHeld() {
      try {
        await client.query("select 1");
      } catch (cause) {
        throw new UserFacingError(
          "The connection to the database was lost, and objects may have been deleted meanwhile: try again.",
          { cause },
        );
      }
    },
    release: () => client.end(),
  };
}

/**
 * Connects without time limits, for long work.
 *
 * @throws UserFacingError when the database or its server cannot be reached
 */
export async function connectToDatabase(url: string): Promise<Client> {
  if (new URL(url).searchParams.get("pooler") === "transaction")
    throw new UserFacingError("A pooler cannot hold the lease: name the server itself in DATABASE_MIGRATION_URL.");
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000, keepAlive: true });
  client.on("error", () => undefined); // the next query reports it
  try {
    await client.connect();
    await client.query(
      "set statement_timeout = 0; set idle_session_timeout = 0; set idle_in_transaction_session_timeout = 0",
    );
  } catch (cause) {
    await client.end().catch(() => undefined); // was never open
    throw new UserFacingError(
      `The database ${new URL(url).pathname.slice(1)} cannot be reached: ${cause instanceof Error ? cause.message : "no answer"}.`,
      { cause },
    );
  }
  return client;
}
