import { randomBytes } from "node:crypto";

import { Client, escapeIdentifier } from "pg";

/** Where jest-setup.ts says which server the tests use; `DATABASE_URL` wins. */
export const testServerVariable = "RELICARIO_TEST_DATABASE_URL";

export interface TestDatabase {
  readonly url: string;
  /**
   * Drops it once nobody is connected, which PostgreSQL awaits for 5 s: `pool.end()` resolves
   * before its connections are closed, and one that is cut meanwhile fails the test.
   */
  drop(): Promise<void>;
  /** Drops it at once and cuts its connections, as when a server is lost; `drop` may follow. */
  forceDrop(): Promise<void>;
}

/**
 * A database of its own for one test file, copied from a template that is prepared once for each
 * server.
 *
 * @param template a name that changes when what `prepare` does changes, such as `service_<digest of
 *   the migrations>`
 * @param prepare brings an empty database to the state that every test starts from, and closes its
 *   connections
 */
export async function createTestDatabase(
  template: string,
  prepare: (url: string) => Promise<void>,
): Promise<TestDatabase> {
  const server = process.env["DATABASE_URL"] ?? process.env[testServerVariable];
  if (server === undefined)
    throw new Error("no database server: run under jest with tooling/src/database/jest-setup.ts, or set DATABASE_URL");
  const name = `test_${randomBytes(8).toString("hex")}`;
  await withServer(server, async (client) => {
    // A template is copied only while nobody is connected to it: one at a time, and made by one
    // alone.
    await client.query("select pg_advisory_lock(hashtext($1))", [template]);
    const existing = await client.query("select 1 from pg_database where datname = $1", [template]);
    if (existing.rowCount === 0) {
      const unfinished = `${template}_${randomBytes(4).toString("hex")}`;
      await client.query(`create database ${escapeIdentifier(unfinished)}`);
      await prepare(databaseUrl(server, unfinished));
      await client.query(`alter database ${escapeIdentifier(unfinished)} rename to ${escapeIdentifier(template)}`);
    }
    await client.query(`create database ${escapeIdentifier(name)} template ${escapeIdentifier(template)}`);
  });
  const dropStatement = `drop database if exists ${escapeIdentifier(name)}`;
  return {
    url: databaseUrl(server, name),
    drop: () => withServer(server, (client) => client.query(dropStatement)),
    forceDrop: () => withServer(server, (client) => client.query(`${dropStatement} with (force)`)),
  };
}

function databaseUrl(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

async function withServer(server: string, task: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    await task(client);
  } finally {
    await client.end(); // gives the advisory lock back too
  }
}
