import { Client, DatabaseError } from "pg";

import { UserFacingError } from "../user-facing-error.ts";

/**
 * The same as in api/src/objects/orphaned-objects.ts, whose collector goes on only while nobody has
 * it alone.
 */
const leaseLockKey = 7_235_003;

/** How long a collection of objects that is under way, or another backup, is waited for. */
const lockTimeout = "60s";

export interface Lease {
  /** The connection that holds it: of the service's database. */
  readonly client: Client;
  /**
   * @throws UserFacingError when it was lost meanwhile: objects may have gone that the rows refer
   *   to.
   */
  assertHeld(): Promise<void>;
  release(): Promise<void>;
}

/**
 * No object is deleted while it is held. It belongs to a connection: whatever ends this process
 * gives it back.
 */
export async function acquireLease(url: string): Promise<Lease> {
  const client = await connect(url);
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
 * A connection for long work. @throws UserFacingError when there is no such database, or no server.
 */
export async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000, keepAlive: true });
  client.on("error", () => undefined); // the next query says so
  try {
    await client.connect();
    await client.query(
      "set statement_timeout = 0; set idle_session_timeout = 0; set idle_in_transaction_session_timeout = 0",
    );
  } catch (cause) {
    await client.end().catch(() => undefined); // it never was open
    throw new UserFacingError(
      `The database ${new URL(url).pathname.slice(1)} cannot be reached: ${cause instanceof Error ? cause.message : "no answer"}.`,
      { cause },
    );
  }
  return client;
}
