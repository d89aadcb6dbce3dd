import { randomBytes } from "node:crypto";
import { mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { Client, escapeIdentifier } from "pg";

import {
  createStartError,
  resolveProcessUser,
  findPostgresPrograms,
  runProgram,
  spawnServer,
  type ProcessUser,
  type SpawnedServer,
} from "./programs.ts";

export interface DatabaseServerSettings {
  /** Everything of the server lies here: data, password (0600), log. Made when it is missing. */
  readonly folder: string;
  /** Where it listens; a free port by default. */
  readonly port?: number;
  /** Server settings besides the usual ones, such as `{ fsync: "off" }` in tests. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface DatabaseServer {
  /** Address of one database on this server, password included: never for a log. */
  url(database: string): string;
  /** Makes a database when there is none of this name. */
  createDatabase(name: string): Promise<void>;
  readonly port: number;
  /** Resolves when the server has ended, with how it did: a signal or an exit code. */
  readonly ended: Promise<string>;
  /** Ends the server in an orderly way; connections that are still open are cut. */
  stop(): Promise<void>;
  /** SIGKILL, as a crash would be. */
  kill(): Promise<void>;
}

const user = "relicario";

/**
 * Starts a real PostgreSQL server on 127.0.0.1. Not for production.
 *
 * Works as root too (see programs.ts). A server that a killed process left behind on the same
 * folder is ended first; one whose starter still lives is an error. The first start of a folder
 * makes it under a temporary name, so that an interrupted one leaves nothing half made.
 *
 * @throws DatabaseUnavailable with one clear line when this machine cannot run it.
 */
export async function startDatabaseServer({
  folder,
  settings = {},
  port: requestedPort,
}: DatabaseServerSettings): Promise<DatabaseServer> {
  const root = resolve(folder);
  await mkdir(root, { recursive: true, mode: 0o700 });
  const programs = findPostgresPrograms();
  await stopOrphanedServer(root);
  await writeFile(join(root, "starter.pid"), String(process.pid));
  const processUser = await resolveProcessUser(programs, root);
  const password = await loadOrCreatePassword(root);
  await initializeCluster(programs.initdb, processUser, root);

  for (let attempt = 1; ; attempt++) {
    const port = requestedPort ?? (await findFreePort());
    const log = await open(join(root, "postgres.log"), "w", 0o600);
    const server = spawnServer(
      programs.postgres,
      processUser,
      buildServerFlags(join(root, "cluster"), port, settings),
      log.fd,
    );
    await log.close(); // the server has its own copy
    if (await waitUntilReady(root, server)) return createServerHandle(root, port, password, server);
    const logText = await readFile(join(root, "postgres.log"), "utf8");
    // Between asking for a free port and taking it somebody else may have taken it.
    if (!/could not bind|Address already in use/.test(logText) || attempt === 5)
      throw createStartError(parseFailureReason(logText));
  }
}

/**
 * Address of a database on the server that another process runs on this folder now; null when none
 * does.
 */
export async function findRunningServer(folder: string): Promise<DatabaseServer["url"] | null> {
  const root = resolve(folder);
  const lines = (await readTextOrEmpty(join(root, "cluster", "postmaster.pid"))).split("\n");
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  if (lines[7]?.trim() !== "ready" || !isAlive(pid)) return null;
  return createUrlBuilder(port, await loadOrCreatePassword(root));
}

const createUrlBuilder =
  (port: number, password: string): DatabaseServer["url"] =>
  (database) =>
    `postgresql://${user}:${password}@127.0.0.1:${String(port)}/${encodeURIComponent(database)}`;

function createServerHandle(root: string, port: number, password: string, server: SpawnedServer): DatabaseServer {
  const getUrl = createUrlBuilder(port, password);
  return {
    url: getUrl,
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
      server.kill("SIGINT"); // "fast": open transactions are rolled back
      await server.ended;
      await rm(join(root, "starter.pid"), { force: true });
    },
    async kill() {
      server.kill("SIGKILL");
      await server.ended;
    },
  };
}

async function initializeCluster(initdb: string, processUser: ProcessUser, root: string): Promise<void> {
  const cluster = join(root, "cluster");
  if (await readTextOrEmpty(join(cluster, "PG_VERSION"))) return;
  const temporaryCluster = join(root, `cluster.${randomBytes(4).toString("hex")}`);
  try {
    await runProgram(initdb, processUser, [
      `--pgdata=${temporaryCluster}`,
      `--username=${user}`,
      `--pwfile=${join(root, "password")}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--locale=C",
    ]);
    await rename(temporaryCluster, cluster);
  } catch (cause) {
    await rm(temporaryCluster, { recursive: true, force: true });
    throw createStartError("making its folder failed", cause);
  }
}

function buildServerFlags(cluster: string, port: number, settings: Readonly<Record<string, string>>): string[] {
  const allSettings = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: "",
    lc_messages: "C",
    timezone: "UTC",
    // No statement and no value of a row in the log, whatever fails.
    log_min_error_statement: "panic",
    log_error_verbosity: "terse",
    ...settings,
  };
  return ["-D", cluster, ...Object.entries(allSettings).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
}

/**
 * The eighth line of postmaster.pid says how far the server is, the same that pg_ctl reads; the
 * first, whether it is this one.
 */
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

/**
 * A server of this folder whose starter was killed is ended; a pid file whose process is something
 * else is removed.
 */
async function stopOrphanedServer(root: string): Promise<void> {
  const pidFile = join(root, "cluster", "postmaster.pid");
  const pid = Number((await readTextOrEmpty(pidFile)).split("\n")[0]);
  if (!Number.isInteger(pid) || pid <= 0) return;
  const command = await readCommandLine(pid);
  if (command !== null && !(command.includes("postgres") && command.includes(join(root, "cluster")))) {
    await rm(pidFile, { force: true });
    return;
  }
  if (!isAlive(pid)) return; // PostgreSQL itself clears a pid file without a process
  const starter = Number(await readTextOrEmpty(join(root, "starter.pid")));
  if (Number.isInteger(starter) && starter > 0 && starter !== process.pid && isAlive(starter)) {
    throw createStartError(`the folder is in use by process ${String(starter)}`);
  }
  process.kill(pid, "SIGINT");
  while (isAlive(pid) && (await readTextOrEmpty(pidFile)) !== "") await pause(10);
}

/** The command line of a process; null where the system does not tell. */
async function readCommandLine(pid: number): Promise<string | null> {
  if (process.platform !== "linux") return null;
  return (await readTextOrEmpty(`/proc/${String(pid)}/cmdline`)).replaceAll("\0", " ");
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // it lives, under another user
    return typeof error === "object" && error !== null && "code" in error && error.code === "EPERM";
  }
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
  return readFile(file, "utf8").catch(() => ""); // a missing file says the same as an empty one here
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => {
        if (address === null || typeof address === "string") reject(new Error("no port"));
        else resolve(address.port);
      });
    });
  });
}

/** What ended it, which a few lines more may follow. */
function parseFailureReason(text: string): string {
  const lines = text.trim().split("\n");
  return lines.findLast((line) => line.includes("FATAL:")) ?? lines.at(-1) ?? "it ended without a word";
}
