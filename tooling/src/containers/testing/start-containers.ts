/**
 * Runs the containers of a profile of compose.yaml as processes of this machine, with the file's
 * own commands, settings, names and ports. Needs root, for mount namespaces and port 443. What
 * Docker adds is not tried: images, users, read-only files, capabilities, separate networks.
 */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";

import { Client } from "pg";

import { startDatabaseServer } from "../../database/embedded.ts";
import { rootFolder } from "../../paths.ts";
import { findListeningPort, readCompose, readImage, type Container, type Profile } from "../compose.ts";
import { resolveProgram, type Program } from "./programs.ts";

const execFileAsync = promisify(execFile);

/** Keycloak builds itself at its first start, which takes minutes on a busy machine. */
const startLimitSeconds = 900;
/** After `SIGTERM`; longer than any `stop_grace_period`. */
const stopLimitMs = 45_000;

export interface RunningContainers {
  /** The container's own IP address. */
  getAddress(name: string): string;
  getVolumeFolder(name: string): string;
  /** `docker compose exec <name> node <words>`. @returns its output */
  exec(name: string, ...words: readonly string[]): Promise<string>;
  /** `docker compose stop <name>` */
  stop(name: string): Promise<void>;
  stopAll(): Promise<void>;
}

/**
 * @param folder gets volumes, logs and what else the containers write
 * @param variables those of compose.yaml
 * @throws Error when a container ends or does not listen, with the file of its log
 */
export async function startContainers(
  profile: Profile,
  variables: Readonly<Record<string, string>>,
  folder: string,
): Promise<RunningContainers> {
  const { services, volumes } = readCompose(variables, profile);
  const names = Object.keys(services);
  const running = new Map<string, () => Promise<void>>();
  const children = new Set<ChildProcess>();
  const hostsFile = join(folder, "hosts");
  const builtReleases = join(folder, "built-releases");
  let unexpectedEnd: string | null = null;
  process.once("exit", () => {
    for (const child of children) endGroup(child, "SIGKILL");
  });

  const getVolumeFolder = (name: string): string => join(folder, "volumes", name);
  const getRoot = (name: string): string => join(folder, "containers", name);
  const getLogFile = (name: string): string => join(folder, `${name}.log`);

  function requireContainer(name: string): Container {
    const container = services[name];
    if (container === undefined) throw new TypeError(`compose.yaml has no container ${name}`);
    return container;
  }

  function getAddress(name: string): string {
    requireContainer(name);
    return `127.77.0.${String(names.indexOf(name) + 1)}`;
  }

  function describeHost(name: string): string {
    const aliases = requireContainer(name).networks.flatMap((network) => network.aliases);
    return `${getAddress(name)} ${[name, ...new Set(aliases)].join(" ")}\n`;
  }

  /** A folder for the container's file system, with the image's files and the volumes. */
  function makeRoot(name: string): void {
    mkdirSync(getRoot(name), { recursive: true });
    symlinkSync(rootFolder, join(getRoot(name), "relicario"));
    symlinkSync(builtReleases, join(getRoot(name), "built-releases"));
    for (const [volume = "", path = ""] of requireContainer(name).volumes.map((text) => text.split(":"))) {
      mkdirSync(dirname(join(getRoot(name), path)), { recursive: true });
      symlinkSync(getVolumeFolder(volume), join(getRoot(name), path));
    }
  }

  /** Paths lead into the container's folder, and "all addresses" is the container's. */
  function getEnvironment(name: string): Record<string, string> {
    const { build, environment } = requireContainer(name);
    const allVariables = {
      ...(build === undefined ? {} : readImage(build.target).environment),
      ...(existsSync(join(getRoot(name), "keys")) ? { KEYS_FOLDER: "/keys" } : {}),
      ...environment,
    };
    return Object.fromEntries(
      Object.entries(allVariables).map(([variable, value]) => [
        variable,
        (value.startsWith("/") ? getRoot(name) + value : value).replace("0.0.0.0", getAddress(name)),
      ]),
    );
  }

  /** Runs it where the names of all containers are known, as in their network. */
  function inNetwork({ program, args, environment }: Program): Program {
    return {
      program: "unshare",
      args: ["--mount", "sh", "-ec", 'mount --bind "$0" /etc/hosts; exec "$@"', hostsFile, program, ...args],
      environment: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", ...environment },
    };
  }

  async function startDatabase(name: string): Promise<void> {
    const { POSTGRES_PASSWORD = "", POSTGRES_DB = "" } = getEnvironment(name);
    const databaseFolder = join(folder, "database");
    mkdirSync(databaseFolder, { recursive: true, mode: 0o700 });
    writeFileSync(join(databaseFolder, "password"), POSTGRES_PASSWORD, { mode: 0o600 });
    const server = await startDatabaseServer({
      folder: databaseFolder,
      port: Number(findListeningPort(requireContainer(name))),
      parameters: { listen_addresses: `127.0.0.1,${getAddress(name)}` },
    });
    running.set(name, server.stop);
    await server.createDatabase(POSTGRES_DB);
    const client = new Client({ connectionString: server.getUrl(POSTGRES_DB) });
    await client.connect();
    const statements = readFileSync(join(rootFolder, "deploy/compose/databases.sql"), "utf8").trim().split("\n");
    for (const statement of statements) await client.query(statement);
    await client.end();
  }

  async function startProcess(name: string): Promise<void> {
    const { program, args, environment } = inNetwork(
      await resolveProgram({
        container: requireContainer(name),
        root: getRoot(name),
        address: getAddress(name),
        environment: getEnvironment(name),
      }),
    );
    const log = openSync(getLogFile(name), "a");
    const child = spawn(program, args, {
      cwd: rootFolder,
      env: environment,
      detached: true, // a group of its own: a script starts Java as its child
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    children.add(child);
    const ended = once(child, "exit").then(() => {
      children.delete(child);
      if (running.has(name)) unexpectedEnd ??= `${name} has ended: see ${getLogFile(name)}`;
    });
    running.set(name, async () => {
      endGroup(child, "SIGTERM");
      await Promise.race([ended, pause(stopLimitMs, null, { ref: false })]);
      if (children.has(child)) endGroup(child, "SIGKILL");
      await ended;
    });
  }

  async function start(name: string): Promise<void> {
    if (running.has(name)) return;
    const { image = "", depends_on } = requireContainer(name);
    for (const [dependency, { condition }] of Object.entries(depends_on)) {
      await start(dependency);
      if (condition === "service_healthy") await waitUntilUp(dependency);
    }
    await (image.startsWith("postgres:") ? startDatabase(name) : startProcess(name));
  }

  async function waitUntilUp(name: string): Promise<void> {
    const deadline = performance.now() + startLimitSeconds * 1_000;
    while (!(await isUp(name))) {
      if (unexpectedEnd !== null) throw new Error(unexpectedEnd);
      if (performance.now() > deadline) throw new Error(`${name} does not listen: see ${getLogFile(name)}`);
      await pause(200);
    }
  }

  async function isUp(name: string): Promise<boolean> {
    const container = requireContainer(name);
    if (container.network_mode === "none")
      return existsSync(join(getEnvironment(name)["DEPLOYMENTS_FOLDER"] ?? "", "relicario.json"));
    const socket = connect(Number(findListeningPort(container)), getAddress(name));
    const isConnected = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    return isConnected;
  }

  async function stop(name: string): Promise<void> {
    const end = running.get(name);
    running.delete(name);
    await end?.();
  }

  async function stopAll(): Promise<void> {
    // the database last: the others store what they still have
    for (const name of [...running.keys()].reverse()) await stop(name);
  }

  for (const volume of Object.keys(volumes)) mkdirSync(getVolumeFolder(volume), { recursive: true });
  writeFileSync(hostsFile, `127.0.0.1 localhost\n${names.map(describeHost).join("")}`);
  await execFileAsync(process.execPath, [
    "--disable-warning=ExperimentalWarning",
    join(rootFolder, "tooling/src/containers/collect-releases.ts"),
    builtReleases,
  ]);
  for (const name of names) makeRoot(name);
  try {
    for (const name of names) await start(name);
    for (const name of names) await waitUntilUp(name);
  } catch (error) {
    await stopAll();
    throw error;
  }
  return {
    getAddress,
    getVolumeFolder,
    async exec(name, ...words) {
      const { program, args, environment } = inNetwork({
        program: process.execPath,
        args: ["--disable-warning=ExperimentalWarning", ...words],
        environment: getEnvironment(name),
      });
      return (await execFileAsync(program, args, { env: environment, cwd: rootFolder })).stdout;
    },
    stop,
    stopAll,
  };
}

function endGroup({ pid }: ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // it has ended
  }
}
