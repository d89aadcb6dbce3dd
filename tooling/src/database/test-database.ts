import { randomBytes } from "node:crypto";

import { Client, escapeIdentifier } from "pg";

/** Names the server that jest-setup.ts started; `DATABASE_URL` takes precedence. */
export const testServerVariable = "RELICARIO_TEST_DATABASE_URL";

/** Address of a pooler in front of the server, through which services then connect. */
export const testPoolerVariable = "RELICARIO_TEST_POOLER_URL";

export interface TestDatabase {
  /** Of the server itself. */
  readonly url: string;
  /** For services: through the pooler under test, if there is one. */
  readonly serviceUrl: string;
  /**
   * Drops the database when no one is connected, for which PostgreSQL waits 5 s: `pool.end()`
   * resolves before its connections close, and cutting one fails the test. A pooler's are cut.
   */
  drop(): Promise<void>;
  /** Drops the database and cuts its connections, like a lost server; `drop` may follow. */
  forceDrop(): Promise<void>;
}

/**
 * Creates a database for one test file, copied from a template that is prepared once for each
 * server.
 *
 * @param templateName must change when `prepare` changes, such as `service_<digest of the
 * migrations>`
 * @param prepare brings an empty database to the state at which tests start, and closes its
 * connections
 */
export async function createTestDatabase(
  templateName: string,
  prepare: (url: string) => Promise<void>,
): Promise<TestDatabase> {
  const serverUrl = process.env["DATABASE_URL"] ?? process.env[testServerVariable];
  if (serverUrl === undefined)
    throw new Error("no database server: run under jest with tooling/src/database/jest-setup.ts, or set DATABASE_URL");
  const name = `test_${randomBytes(8).toString("hex")}`;
  const poolerUrl = process.env[testPoolerVariable];
  await withServer(serverUrl, async (client) => {
    // Serialized: PostgreSQL copies a template only while no one is connected to it.
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
  const url = buildDatabaseUrl(serverUrl, name);
  return {
    url,
    serviceUrl: poolerUrl === undefined ? url : buildDatabaseUrl(poolerUrl, name),
    drop: () =>
      withServer(serverUrl, async (client) => {
        if (poolerUrl !== undefined)
          await client.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and usename = $2",
            [name, new URL(poolerUrl).username],
          );
        await client.query(dropStatement);
      }),
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
    await client.end(); // also releases the advisory lock
  }
}
