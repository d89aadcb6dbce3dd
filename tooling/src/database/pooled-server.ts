import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { Client, escapeLiteral } from "pg";

import { findFreePort, startDatabaseServer } from "./embedded.ts";
import type { PostgresPrograms } from "./programs.ts";
import { testPoolerVariable } from "./test-database.ts";

const startMilliseconds = 30_000;

/** The service's: it requires limits of its role. */
const pooledRole = "relicario_pooled";

export interface PooledServerPrograms {
  readonly postgres: PostgresPrograms;
  /** From 1.21 on. */
  readonly pgBouncer: string;
}

export interface PooledServer {
  /** For jest: the server, a pooler, and a pooler that keeps no prepared statements. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL behind PgBouncer, which shares connections between transactions, for tests.
 */
export async function startPooledServer(programs: PooledServerPrograms): Promise<PooledServer> {
  const folder = mkdtempSync(join(tmpdir(), "relicario-engines-"));
  chmodSync(folder, 0o755); // PgBouncer runs as another user than root
  // Test data need not survive a power failure.
  const database = await startDatabaseServer({
    folder: join(folder, "database"),
    programs: programs.postgres,
    parameters: { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: "200" },
  });
  const serverUrl = database.getUrl("postgres");
  const poolers: PgBouncer[] = [];
  const stop = async (): Promise<void> => {
    for (const pooler of poolers) await pooler.stop();
    await database.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const { password } = new URL(serverUrl);
    await createPooledRole(serverUrl, password);
    for (const preparedStatements of [200, 0])
      poolers.push(await startPgBouncer(programs.pgBouncer, folder, serverUrl, preparedStatements));
  } catch (error) {
    await stop();
    throw error;
  }
  const [url = "", urlWithoutStatements = ""] = poolers.map((pooler) => pooler.url);
  return {
    environment: {
      DATABASE_URL: serverUrl,
      [testPoolerVariable]: url,
      RELICARIO_TEST_POOLER_WITHOUT_STATEMENTS: urlWithoutStatements,
    },
    stop,
  };
}

async function createPooledRole(serverUrl: string, password: string): Promise<void> {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`create role ${pooledRole} login superuser password ${escapeLiteral(password)}`);
  for (const limit of [
    "lock_timeout = '5s'",
    "statement_timeout = '10s'",
    "idle_in_transaction_session_timeout = '30s'",
  ])
    await client.query(`alter role ${pooledRole} set ${limit}`);
  await client.end();
}

interface PgBouncer {
  readonly url: string;
  stop(): Promise<void>;
}

async function startPgBouncer(
  program: string,
  folder: string,
  serverUrl: string,
  preparedStatements: number,
): Promise<PgBouncer> {
  const port = await findFreePort();
  const url = new URL(serverUrl);
  const [settingsFile, usersFile] = [join(folder, `${String(port)}.ini`), join(folder, `${String(port)}.txt`)];
  const settings = {
    listen_addr: "127.0.0.1",
    listen_port: port,
    unix_socket_dir: "",
    auth_type: "scram-sha-256",
    auth_file: usersFile,
    pool_mode: "transaction",
    max_prepared_statements: preparedStatements,
    max_client_conn: 1_000,
    default_pool_size: 20,
    // Every test file has databases of its own.
    server_idle_timeout: 5,
  };
  writeFileSync(
    settingsFile,
    [
      "[databases]",
      `* = host=${url.hostname} port=${url.port}`,
      "[pgbouncer]",
      ...Object.entries(settings).map(([name, value]) => `${name} = ${String(value)}`),
      "",
    ].join("\n"),
  );
  writeFileSync(usersFile, `"${pooledRole}" "${url.password}"\n`);
  url.username = pooledRole;
  url.port = String(port);
  url.searchParams.set("pooler", "transaction");
  const child = spawn(program, ["--quiet", ...(process.getuid?.() === 0 ? ["--user=nobody"] : []), settingsFile], {
    stdio: "ignore",
  });
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  };
  try {
    await waitForAnswer(url.href);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: url.href, stop };
}

async function waitForAnswer(url: string): Promise<void> {
  const deadline = performance.now() + startMilliseconds;
  for (;;) {
    const client = new Client({ connectionString: url });
    client.on("error", () => undefined); // the query reports it
    try {
      await client.connect();
      await client.query("select 1");
      return;
    } catch (error) {
      if (performance.now() > deadline) throw new Error("PgBouncer did not start", { cause: error });
      await pause(100);
    } finally {
      await client.end().catch(() => undefined); // was never open
    }
  }
}
