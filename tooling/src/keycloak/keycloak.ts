/** A real Keycloak with the realm of `deploy/keycloak`, for tests. Needs Java 17 and Maven. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { z } from "zod";

import { rootFolder } from "../paths.ts";
import { run } from "../test/run.ts";
import { UserFacingError } from "../user-facing-error.ts";

export const keycloakVersion = "26.7.3";
const mavenPlugin = "org.apache.maven.plugins:maven-dependency-plugin:3.6.0";
const cacheFolder = join(rootFolder, ".cache");

/** The first start of an installation builds it, which takes minutes on a busy machine. */
const startLimitSeconds = 900;

const administrator = { username: "administrator", password: "only for tests" } as const;
const serviceClient = { client_id: "relicario-service", client_secret: "only for tests" } as const;
const realm = "relicario";

export interface KeycloakSettings {
  readonly port: number;
  readonly portalOrigin: string;
  readonly vaultOrigin: string;
  readonly logFile: string;
}

export interface Keycloak {
  readonly authority: string;
  /** Value of the service's `IDP_ADMIN`. */
  readonly adminSetting: string;
  /** Stops the process; `start` continues with the same data. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /**
   * Calls the admin interface below the realm as its administrator.
   *
   * @returns the parsed answer, null without one
   * @throws Error for any status of 300 or more
   */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
}

/** Starts Keycloak with an empty database, and downloads it before the first time. */
export async function startKeycloak({ port, portalOrigin, vaultOrigin, logFile }: KeycloakSettings): Promise<Keycloak> {
  const homeFolder = await installKeycloak();
  const origin = `http://localhost:${String(port)}`;
  const authority = `${origin}/realms/${realm}`;
  if (await isReady(authority))
    throw new UserFacingError(`Another Keycloak runs on port ${String(port)}: stop it first.`);
  await rm(join(homeFolder, "data"), { recursive: true, force: true });
  await mkdir(join(homeFolder, "data/import"), { recursive: true });
  await copyFile(
    join(rootFolder, "deploy/keycloak/relicario-realm.json"),
    join(homeFolder, "data/import/relicario-realm.json"),
  );
  let child: ChildProcess | null = null;

  const start = async (): Promise<void> => {
    const log = await open(logFile, "a");
    const startedProcess = spawn(
      "bash",
      [
        join(homeFolder, "bin/kc.sh"),
        "start-dev",
        "--import-realm",
        "--http-host=127.0.0.1",
        `--http-port=${String(port)}`,
        `--hostname=${origin}`,
      ],
      {
        stdio: ["ignore", log.fd, log.fd],
        detached: true, // a group of its own: kc.sh starts Java as its child
        env: {
          ...process.env,
          JAVA_OPTS_KC_HEAP: "-Xms64m -Xmx512m",
          KC_BOOTSTRAP_ADMIN_USERNAME: administrator.username,
          KC_BOOTSTRAP_ADMIN_PASSWORD: administrator.password,
          PORTAL_ORIGIN: portalOrigin,
          VAULT_ORIGIN: vaultOrigin,
          SERVICE_CLIENT_SECRET: serviceClient.client_secret,
          SMTP_HOST: "localhost",
          SMTP_PORT: "25",
          SMTP_FROM: "id@example.org",
          SMTP_STARTTLS: "false",
          SMTP_AUTH: "false",
          SMTP_USER: "",
          SMTP_PASSWORD: "",
        },
      },
    );
    await log.close();
    child = startedProcess;
    const deadline = performance.now() + startLimitSeconds * 1_000;
    while (!(await isReady(authority))) {
      if (startedProcess.exitCode !== null || performance.now() > deadline) {
        await stop();
        throw new UserFacingError(`Keycloak did not start: see ${logFile}.`);
      }
      await pause(500);
    }
  };
  const stop = async (): Promise<void> => {
    const stoppedProcess = child;
    child = null;
    if (stoppedProcess?.exitCode !== null) return;
    const exited = once(stoppedProcess, "exit");
    endGroup(stoppedProcess);
    await exited;
  };
  process.on("exit", () => {
    if (child !== null) endGroup(child);
  });

  await start();
  return {
    authority,
    adminSetting: JSON.stringify({ kind: "keycloak", url: origin, realm, ...serviceClient }),
    start,
    stop,
    call: createAdminCall(origin, administrator),
  };
}

/** Calls the admin interface of a Keycloak at this origin, below the realm. */
export function createAdminCall(
  origin: string,
  user: { readonly username: string; readonly password: string },
): Keycloak["call"] {
  const getToken = async (): Promise<string> => {
    const response = await fetch(`${origin}/realms/master/protocol/openid-connect/token`, {
      method: "POST",
      body: new URLSearchParams({ grant_type: "password", client_id: "admin-cli", ...user }),
    });
    return z.looseObject({ access_token: z.string() }).parse(await response.json()).access_token;
  };
  return async (method, path, body) => {
    const response = await fetch(`${origin}/admin/realms/${realm}${path}`, {
      method,
      headers: { authorization: `Bearer ${await getToken()}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`Keycloak answers ${String(response.status)} to ${method} ${path}: ${text}`);
    return text === "" ? null : (JSON.parse(text) as unknown);
  };
}

/** Downloads this version from Maven Central once, into `.cache`. @returns its folder */
export async function installKeycloak(): Promise<string> {
  const homeFolder = join(cacheFolder, `keycloak-${keycloakVersion}`);
  if (await stat(homeFolder).catch(() => null)) return homeFolder;
  const artifact = `org.keycloak:keycloak-quarkus-dist:${keycloakVersion}:zip`;
  const repository = join(cacheFolder, "maven");
  await runOrThrow("mvn", [
    "--batch-mode",
    "--quiet",
    `${mavenPlugin}:get`,
    `-Dartifact=${artifact}`,
    "-Dtransitive=false",
    `-Dmaven.repo.local=${repository}`,
  ]);
  const name = `keycloak-quarkus-dist/${keycloakVersion}/keycloak-quarkus-dist-${keycloakVersion}.zip`;
  const unpackFolder = `${homeFolder}.new`;
  await rm(unpackFolder, { recursive: true, force: true });
  await runOrThrow("unzip", ["-q", join(repository, "org/keycloak", name), "-d", unpackFolder]);
  await rename(join(unpackFolder, `keycloak-${keycloakVersion}`), homeFolder);
  await rm(unpackFolder, { recursive: true });
  return homeFolder;
}

async function runOrThrow(program: string, args: readonly string[]): Promise<void> {
  const { code, output } = await run(program, args);
  if (code !== 0) throw new UserFacingError(`${program} failed, which installs Keycloak:\n${output}`);
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGTERM");
  } catch {
    // it has ended
  }
}

async function isReady(authority: string): Promise<boolean> {
  return fetch(`${authority}/.well-known/openid-configuration`, { signal: AbortSignal.timeout(5_000) }).then(
    ({ ok }) => ok,
    () => false,
  );
}
