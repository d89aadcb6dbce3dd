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
 * @param templateName a name that changes when what `prepare` does changes, such as
 *   `service_<digest of the migrations>`
 * @param prepare brings an empty database to the state that every test starts from, and closes its
 *   connections
 */
export async function createTestDatabase(
  templateName: string,
  prepare: (url: string) => Promise<void>,
): Promise<TestDatabase> {
  const serverUrl = process.env["DATABASE_URL"] ?? process.env[testServerVariable];
  if (serverUrl === undefined)
    throw new Error("no database server: run under jest with tooling/src/database/jest-setup.ts, or set DATABASE_URL");
  const name = `test_${randomBytes(8).toString("hex")}`;
  await withServer(serverUrl, async (client) => {
    // A template is copied only while nobody is connected to it: one at a time, and made by one
    // alone.
    await client.query("select pg_advisory_lock(hashtext($1))", [templateName]);
    const existing = await client.query("select 1 from pg_database where datname = $1", [templateName]);
    if (existing.rowCount === 0) {
      const temporaryName = `${templateName}_${randomBytes(4).toString("hex")}`;
      await client.query(`create database ${escapeIdentifier(temporaryName)}`);
      await prepare(buildDatabaseUrl(serverUrl, temporaryName));
      await client.query(
        `alter database ${escapeIdentifier(temporaryName)} rename to ${escapeIdentifier(templateName)}`,
      );
    }
    await client.query(`create database ${escapeIdentifier(name)} template ${escapeIdentifier(templateName)}`);
  });
  const dropStatement = `drop database if exists ${escapeIdentifier(name)}`;
  return {
    url: buildDatabaseUrl(serverUrl, name),
    drop: () => withServer(serverUrl, (client) => client.query(dropStatement)),
    forceDrop: () => withServer(serverUrl, (client) => client.query(`${dropStatement} with (force)`)),
  };
}

function buildDatabaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

async function withServer(serverUrl: string, task: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await task(client);
  } finally {
    await client.end(); // gives the advisory lock back too
  }
}
