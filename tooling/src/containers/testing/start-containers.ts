/**
 * Runs the containers of a profile of compose.yaml as processes of this machine, with the file's
 * own commands, settings, names and ports. Needs root, for mount namespaces and port 443.
 */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, openSync, closeSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";

import { Client } from "pg";

import { startDatabaseServer } from "../../database/embedded.ts";
import { installKeycloak } from "../../keycloak/keycloak.ts";
import { rootFolder } from "../../paths.ts";
import { installGoProgram } from "../../test/go-program.ts";
import { downloadS3Proxy } from "../../test/s3proxy.ts";
import { findListeningPort, readCompose, readImage, type Container, type Profile } from "../compose.ts";

const execFileAsync = promisify(execFile);

/** Of the images that compose.yaml names. */
const caddyVersion = "v2.10.2";
const mailpitVersion = "v1.27.11";

/** Keycloak builds itself at its first start, which takes minutes on a busy machine. */
const startLimitSeconds = 900;
const stopLimitMs = 45_000;

export interface RunningContainers {
  /** Of a container, which has an IP address of its own. */
  getAddress(name: string): string;
  getVolumeFolder(name: string): string;
  /** `docker compose exec <name> node <words>`. @returns its output */
  exec(name: string, ...words: readonly string[]): Promise<string>;
  /** `docker compose stop <name>` */
  stop(name: string): Promise<void>;
  stopAll(): Promise<void>;
}

interface Process {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
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
  const getAddress = (name: string): string => `127.77.0.${String(names.indexOf(name) + 1)}`;
  const getVolumeFolder = (name: string): string => join(folder, "volumes", name);
  const getRoot = (name: string): string => join(folder, "containers", name);
  const running = new Map<string, () => Promise<void>>();
  const children = new Set<ChildProcess>();
  let stopReason: string | null = null;
  process.once("exit", () => {
    for (const child of children) endGroup(child, "SIGKILL");
  });

  for (const volume of Object.keys(volumes)) mkdirSync(getVolumeFolder(volume), { recursive: true });
  const hostsFile = join(folder, "hosts");
  writeFileSync(hostsFile, `127.0.0.1 localhost\n${names.map(describeHost).join("")}`);
  const builtReleases = join(folder, "built-releases");
  await execFileAsync(process.execPath, [
    "--disable-warning=ExperimentalWarning",
    join(rootFolder, "tooling/src/containers/collect-releases.ts"),
    builtReleases,
  ]);
  for (const name of names) makeRoot(name);

  function describeHost(name: string): string {
    const aliases = requireContainer(name).networks.flatMap((network) => network.aliases);
    return `${getAddress(name)} ${[name, ...new Set(aliases)].join(" ")}\n`;
  }

  function requireContainer(name: string): Container {
    const container = services[name];
    if (container === undefined) throw new TypeError(`compose.yaml has no container ${name}`);
    return container;
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

  async function resolveProcess(name: string): Promise<Process> {
    const { image = "", build, command, entrypoint = [] } = requireContainer(name);
    const environment = getEnvironment(name);
    if (build !== undefined)
      return {
        program: process.execPath,
        args: (command ?? readImage(build.target).command).slice(1),
        environment,
      };
    const imageName = image.split(":")[0];
    if (imageName === "axllent/mailpit") {
      const [mailAddress, pageAddress] = [1025, 8025].map((port) => `${getAddress(name)}:${String(port)}`);
      return {
        program: await installGoProgram("github.com/axllent/mailpit", mailpitVersion),
        args: ["--smtp", mailAddress ?? "", "--listen", pageAddress ?? ""],
        environment,
      };
    }
    if (imageName === "andrewgaul/s3proxy")
      return {
        program: "java",
        args: [
          "-Xmx512m",
          // as the image's script does
          ...Object.entries(environment).map(
            ([variable, value]) => `-D${variable.toLowerCase().replaceAll("_", ".")}=${value}`,
          ),
          ...["-jar", await downloadS3Proxy(), "--properties", "/dev/null"],
        ],
        environment,
      };
    if (imageName === "quay.io/keycloak/keycloak") {
      const home = join(getRoot(name), "opt/keycloak");
      cpSync(await installKeycloak(), home, { recursive: true });
      mkdirSync(join(home, "data/import"), { recursive: true });
      cpSync(join(rootFolder, "deploy/keycloak/relicario-realm.json"), join(home, "data/import/relicario-realm.json"));
      const [program = "", ...args] = entrypoint.map((word) =>
        word.replaceAll("$$", "$").replaceAll("/opt/keycloak/bin/kc.sh", `bash ${join(home, "bin/kc.sh")}`),
      );
      return {
        program,
        args,
        environment: { ...environment, KC_HTTP_HOST: getAddress(name), JAVA_OPTS_KC_HEAP: "-Xms64m -Xmx768m" },
      };
    }
    if (imageName === "caddy")
      return {
        program: await installGoProgram("github.com/caddyserver/caddy/v2/cmd/caddy", caddyVersion),
        args: ["run", "--adapter", "caddyfile", "--config", join(rootFolder, "deploy/compose/Caddyfile")],
        environment: {
          ...environment,
          XDG_DATA_HOME: join(getRoot(name), "data"),
          XDG_CONFIG_HOME: join(getRoot(name), "config"),
        },
      };
    throw new TypeError(`compose.yaml has an image that this machine cannot run: ${image}`);
  }

  /** With the names of all containers, as in their network. */
  function inNamespace({ program, args, environment }: Process): [string, string[], { env: NodeJS.ProcessEnv }] {
    return [
      "unshare",
      [...["--mount", "sh", "-ec", 'mount --bind "$0" /etc/hosts; exec "$@"', hostsFile], ...[program, ...args]],
      { env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...environment } },
    ];
  }

  async function startDatabase(name: string): Promise<() => Promise<void>> {
    const { POSTGRES_PASSWORD = "", POSTGRES_DB = "" } = getEnvironment(name);
    const databaseFolder = join(folder, "database");
    mkdirSync(databaseFolder, { recursive: true, mode: 0o700 });
    writeFileSync(join(databaseFolder, "password"), POSTGRES_PASSWORD, { mode: 0o600 });
    const server = await startDatabaseServer({
      folder: databaseFolder,
      port: Number(findListeningPort(requireContainer(name))),
      parameters: { listen_addresses: `127.0.0.1,${getAddress(name)}` },
    });
    await server.createDatabase(POSTGRES_DB);
    const client = new Client({ connectionString: server.getUrl(POSTGRES_DB) });
    await client.connect();
    const statements = readFileSync(join(rootFolder, "deploy/compose/databases.sql"), "utf8").trim().split("\n");
    for (const statement of statements) await client.query(statement);
    await client.end();
    return server.stop;
  }

  async function startProcess(name: string): Promise<() => Promise<void>> {
    const logFile = join(folder, `${name}.log`);
    const log = openSync(logFile, "a");
    const [program, args, { env }] = inNamespace(await resolveProcess(name));
    const child = spawn(program, args, {
      cwd: rootFolder,
      env,
      detached: true, // a group of its own: a script starts Java as its child
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    children.add(child);
    let isStopping = false;
    child.once("exit", () => {
      if (!isStopping) stopReason ??= `${name} has ended: see ${logFile}`;
    });
    return async () => {
      isStopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      endGroup(child, "SIGTERM");
      await Promise.race([ended, pause(stopLimitMs, null, { ref: false })]);
      endGroup(child, "SIGKILL");
    };
  }

  async function isUp(name: string): Promise<boolean> {
    const container = requireContainer(name);
    const { DEPLOYMENTS_FOLDER = "" } = getEnvironment(name);
    if (container.network_mode === "none") return existsSync(join(DEPLOYMENTS_FOLDER, "relicario.json"));
    const port = Number(findListeningPort(container));
    return new Promise((resolve) => {
      const socket = connect(port, getAddress(name));
      socket.once("connect", () => {
        socket.destroy();
        resolve(true);
      });
      socket.once("error", () => resolve(false));
    });
  }

  async function waitUntilUp(name: string): Promise<void> {
    const deadline = performance.now() + startLimitSeconds * 1_000;
    while (!(await isUp(name))) {
      if (stopReason !== null) throw new Error(stopReason);
      if (performance.now() > deadline) throw new Error(`${name} does not listen: see ${folder}/${name}.log`);
      await pause(200);
    }
  }

  async function start(name: string): Promise<void> {
    if (running.has(name)) return;
    const { image = "", depends_on } = requireContainer(name);
    for (const [dependency, { condition }] of Object.entries(depends_on)) {
      await start(dependency);
      if (condition === "service_healthy") await waitUntilUp(dependency);
    }
    running.set(name, image.startsWith("postgres:") ? await startDatabase(name) : await startProcess(name));
  }

  async function stop(name: string): Promise<void> {
    await running.get(name)?.();
    running.delete(name);
  }

  const containers: RunningContainers = {
    getAddress,
    getVolumeFolder,
    async exec(name, ...words) {
      const args = ["--disable-warning=ExperimentalWarning", ...words];
      const [program, allArgs, options] = inNamespace({
        program: process.execPath,
        args,
        environment: getEnvironment(name),
      });
      return (await execFileAsync(program, allArgs, { ...options, cwd: rootFolder })).stdout;
    },
    stop,
    async stopAll() {
      // the database last: the others store what they still have
      for (const name of [...running.keys()].reverse()) await stop(name);
    },
  };
  try {
    for (const name of names) await start(name);
    for (const name of names) await waitUntilUp(name);
  } catch (error) {
    await containers.stopAll();
    throw error;
  }
  return containers;
}

function endGroup({ pid }: ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // it has ended
  }
}
