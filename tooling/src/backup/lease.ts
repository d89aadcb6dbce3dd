import { Client, DatabaseError } from "pg";

import { Complaint } from "../start/complaint.ts";

/**
 * The same as in api/src/objects/loose.ts, whose collector goes on only while nobody has it alone.
 */
const lease = 7_235_003;

/** How long a collection of objects that is under way, or another backup, is waited for. */
const patience = "60s";

export interface HeldLease {
  /** The connection that holds it: of the service's database. */
  readonly client: Client;
  /** @throws Complaint when it was lost meanwhile: objects may have gone that the rows refer to. */
  confirm(): Promise<void>;
  release(): Promise<void>;
}

/**
 * No object is deleted while it is held. It belongs to a connection: whatever ends this process
 * gives it back.
 */
export async function takeLease(url: string): Promise<HeldLease> {
  const client = await connect(url);
  try {
    await client.query(`set lock_timeout = '${patience}'`);
    await client.query("select pg_advisory_lock($1)", [lease]);
  } catch (cause) {
    await client.end();
    if (cause instanceof DatabaseError && cause.code === "55P03")
      throw new Complaint("Another backup, or a check, is running: try again when it is done.", { cause });
    throw cause;
  }
  return {
    client,
    async confirm() {
      try {
        await client.query("select 1");
      } catch (cause) {
        throw new Complaint(
          "The connection to the database was lost, and objects may have been deleted meanwhile: try again.",
          { cause },
        );
      }
    },
    release: () => client.end(),
  };
}

/** A connection for long work. @throws Complaint when there is no such database, or no server. */
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
    throw new Complaint(
      `The database ${new URL(url).pathname.slice(1)} cannot be reached: ${cause instanceof Error ? cause.message : "no answer"}.`,
      { cause },
    );
  }
  return client;
}
