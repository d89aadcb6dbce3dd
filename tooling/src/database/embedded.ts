import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";

import { Client, escapeIdentifier } from "pg";

import { isProcessAlive } from "../process-alive.ts";
import {
  createStartError,
  resolveProcessUser,
  findPostgresPrograms,
  runProgram,
  spawnServer,
  type PostgresPrograms,
  type ProcessUser,
  type SpawnedServer,
} from "./programs.ts";

export interface DatabaseServerSettings {
  /** Holds data, password (0600) and log; created when missing. */
  readonly folder: string;
  /** A free one by default. */
  readonly port?: number;
  /** Such as `{ fsync: "off" }` in tests. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Of another version; PostgreSQL 18 by default. */
  readonly programs?: PostgresPrograms;
}

export interface DatabaseServer {
  /** URL of a database, with the password: never to be logged. */
  getUrl(database: string): string;
  createDatabase(name: string): Promise<void>;
  readonly port: number;
  /** Resolves when the server ends, with its signal or exit code. */
  readonly ended: Promise<string>;
  /** Closes open connections. */
  stop(): Promise<void>;
  /** SIGKILL, like a crash. */
  kill(): Promise<void>;
}

const user = "relicario";

/**
 * Starts a real PostgreSQL server on 127.0.0.1. Not for production.
 *
 * Also runs as root (programs.ts). Stops a server that a killed process left on the same folder;
 * fails when its starter still lives. Creates the cluster under a temporary name, so that an
 * interrupted first start leaves nothing behind.
 *
 * @throws DatabaseUnavailableError with one line when this machine cannot run it
 */
export async function startDatabaseServer({
  folder,
  parameters = {},
  port: requestedPort,
  programs = findPostgresPrograms(),
}: DatabaseServerSettings): Promise<DatabaseServer> {
  const root = resolve(folder);
  await mkdir(root, { recursive: true, mode: 0o700 });
  await stopOrphanedServer(root);
  await writeFile(join(root, "starter.pid"), String(process.pid));
  const processUser = await resolveProcessUser(programs, root);
  const password = await loadOrCreatePassword(root);
  await initializeCluster(programs, processUser, root);

  for (let attempt = 1; ; attempt++) {
    const port = requestedPort ?? (await findFreePort());
    const log = await open(join(root, "postgres.log"), "w", 0o600);
    const server = spawnServer(
      programs.postgres,
      processUser,
      buildServerFlags(join(root, "cluster"), port, parameters),
      log.fd,
    );
    await log.close(); // the server has its own descriptor
    if (await waitUntilReady(root, server)) return createServerHandle(root, port, password, server);
    const logText = await readFile(join(root, "postgres.log"), "utf8");
    // Another process may have taken the free port meanwhile.
    if (!/could not bind|Address already in use/.test(logText) || attempt === 5)
      throw createStartError(parseFailureReason(logText));
  }
}

/** Builds URLs of the server that another process runs on this folder; null when none does. */
export async function findRunningServer(folder: string): Promise<DatabaseServer["getUrl"] | null> {
  const root = resolve(folder);
  const lines = (await readTextOrEmpty(join(root, "cluster", "postmaster.pid"))).split("\n");
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  if (lines[7]?.trim() !== "ready" || !isProcessAlive(pid)) return null;
  return createUrlBuilder(port, await loadOrCreatePassword(root));
}

const createUrlBuilder =
  (port: number, password: string): DatabaseServer["getUrl"] =>
  (database) =>
    `postgresql://${user}:${password}@127.0.0.1:${String(port)}/${encodeURIComponent(database)}`;

function createServerHandle(root: string, port: number, password: string, server: SpawnedServer): DatabaseServer {
  const getUrl = createUrlBuilder(port, password);
  return {
    getUrl,
    port,
    ended: server.ended,
    async createDatabase(name) {
      const client = new Client({ connectionString: getUrl("postgres") });
      await client.connect();
      try {
        const existing = await client.query("select 1 from pg_database where datname = $1", [name]);
        if (existing.rowCount === 0) await client.query(`create database ${escapeIdentifier(name)}`);
      } finally {
        await client.end();
      }
    },
    async stop() {
      server.kill("SIGINT"); // fast shutdown: rolls back open transactions
      await server.ended;
      await rm(join(root, "starter.pid"), { force: true });
    },
    async kill() {
      server.kill("SIGKILL");
      await server.ended;
    },
  };
}

async function initializeCluster(programs: PostgresPrograms, processUser: ProcessUser, root: string): Promise<void> {
  const cluster = join(root, "cluster");
  if (await readTextOrEmpty(join(cluster, "PG_VERSION"))) return;
  const temporaryCluster = join(root, `cluster.${randomBytes(4).toString("hex")}`);
  try {
    await runProgram(programs.initdb, processUser, [
      `--pgdata=${temporaryCluster}`,
      `--username=${user}`,
      `--pwfile=${join(root, "password")}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      ...programs.localeFlags,
    ]);
    await rename(temporaryCluster, cluster);
  } catch (cause) {
    await rm(temporaryCluster, { recursive: true, force: true });
    throw createStartError("its folder cannot be created", cause);
  }
}

function buildServerFlags(cluster: string, port: number, parameters: Readonly<Record<string, string>>): string[] {
  const allParameters = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: "",
    lc_messages: "C",
    timezone: "UTC",
    // Keeps statements and row values out of the log.
    log_min_error_statement: "panic",
    log_error_verbosity: "terse",
    ...parameters,
  };
  return ["-D", cluster, ...Object.entries(allParameters).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
}

/** Reads postmaster.pid as pg_ctl does: line 1 is the server's pid, line 8 its state. */
async function waitUntilReady(root: string, { pid, ended }: SpawnedServer): Promise<boolean> {
  const exit = { ended: false };
  void ended.then(() => {
    exit.ended = true;
  });
  for (;;) {
    if (exit.ended) return false;
    const lines = (await readTextOrEmpty(join(root, "cluster", "postmaster.pid"))).split("\n");
    if (Number(lines[0]) === pid && lines[7]?.trim() === "ready") return true;
    await pause(5);
  }
}

/** Stops a server whose starter was killed. Removes a pid file that names an unrelated process. */
async function stopOrphanedServer(root: string): Promise<void> {
  const pidFile = join(root, "cluster", "postmaster.pid");
  const pid = Number((await readTextOrEmpty(pidFile)).split("\n")[0]);
  if (!Number.isInteger(pid) || pid <= 0) return;
  const command = await readCommandLine(pid);
  if (command !== null && !(command.includes("postgres") && command.includes(join(root, "cluster")))) {
    await rm(pidFile, { force: true });
    return;
  }
  if (!isProcessAlive(pid)) return; // PostgreSQL removes a pid file without a process
  const starter = Number(await readTextOrEmpty(join(root, "starter.pid")));
  if (Number.isInteger(starter) && starter > 0 && starter !== process.pid && isProcessAlive(starter)) {
    throw createStartError(`the folder is in use by process ${String(starter)}`);
  }
  process.kill(pid, "SIGINT");
  while (isProcessAlive(pid) && (await readTextOrEmpty(pidFile)) !== "") await pause(10);
}

/** Null except on Linux. */
async function readCommandLine(pid: number): Promise<string | null> {
  if (process.platform !== "linux") return null;
  return (await readTextOrEmpty(`/proc/${String(pid)}/cmdline`)).replaceAll("\0", " ");
}

async function loadOrCreatePassword(root: string): Promise<string> {
  const file = join(root, "password");
  const storedPassword = await readTextOrEmpty(file);
  if (storedPassword !== "") return storedPassword;
  const password = randomBytes(24).toString("base64url");
  await writeFile(file, password, { mode: 0o600 });
  return password;
}

async function readTextOrEmpty(file: string): Promise<string> {
  return readFile(file, "utf8").catch(() => ""); // a missing file counts as empty
}

export async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  await promisify(probe.close.bind(probe))();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

function parseFailureReason(text: string): string {
  const lines = text.trim().split("\n");
  return lines.findLast((line) => line.includes("FATAL:")) ?? lines.at(-1) ?? "it logged nothing";
}
