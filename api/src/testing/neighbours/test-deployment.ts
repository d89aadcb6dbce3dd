/**
 * A small deployment of real processes: one gateway, two services behind a balancer, an identity
 * provider, PostgreSQL with fsync, one folder of objects. A process that dies is restarted, as by a
 * supervisor.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { createChild, type Child } from "@relicario/tooling/child";
import { startDatabaseServer, type DatabaseServer } from "@relicario/tooling/database";

import { clientId, createEnvironment, findFreePort } from "../../identity/test-support.ts";
import { createSessionKey, startIssuer } from "../issuer.ts";
import { callTimeoutMilliseconds } from "./caller.ts";
import { startRelay } from "./relay.ts";

export const processNames = ["service-1", "service-2", "gateway", "database", "identity"] as const;
export type ProcessName = (typeof processNames)[number];

export interface TestDeployment {
  /** Origin of the gateway: `http://127.0.0.1:<port>`. */
  readonly origin: string;
  /** Origins of both services, behind the gateway. */
  readonly serviceOrigins: readonly [string, string];
  /** Of an embedded identity provider with a demo account, apart from the services' issuer. */
  readonly providerIssuer: string;
  readonly objectsFolder: string;
  readonly databaseUrl: () => string;
  /** An access token of the identity provider. */
  createAccessToken(subject: string, claims?: Readonly<Record<string, unknown>>): Promise<string>;
  signIn(subject: string, claims?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Delays all that the database sends, in milliseconds. */
  setDatabaseDelay(milliseconds: number): void;
  /** Sends SIGKILL; the supervisor restarts the process. Resolves once it is dead. */
  kill(name: ProcessName): Promise<void>;
  /**
   * Resolves once every process runs and the gateway reports readiness, with the milliseconds that
   * took.
   */
  waitUntilReady(): Promise<number>;
  /** Last log lines of all processes, for failures. */
  readLogTails(): string;
  stop(): Promise<void>;
}

/** Milliseconds within which a process must recover. */
const recoveryTimeoutMilliseconds = 60_000;

export interface TestDeploymentOptions {
  /** Variables of processes, on top of their own. */
  readonly processEnvironments?: Partial<Record<ProcessName, Readonly<Record<string, string>>>>;
  /** Services take the tokens of the embedded provider, not those of `createAccessToken`. */
  readonly usesProvider?: boolean;
}

export async function startTestDeployment(
  environment: Readonly<Record<string, string>> = {},
  { processEnvironments = {}, usesProvider = false }: TestDeploymentOptions = {},
): Promise<TestDeployment> {
  const folder = mkdtempSync(join(tmpdir(), "relicario-stand-"));
  const objectsFolder = join(folder, "objects");
  mkdirSync(join(folder, "host/vault/static"), { recursive: true });
  mkdirSync(join(folder, "deployments"));
  for (const page of ["index.html", "vault/controller.html", "vault/element.html"])
    writeFileSync(
      join(folder, "host", page),
      '<!doctype html><title>portal</title><script type="application/json" id="portal-page"></script>',
    );

  const issuer = await startIssuer();
  const databaseRelay = await startRelay();
  const balancer = await startRelay();
  const databaseFolder = join(folder, "database");
  let database: DatabaseServer = await startDatabaseServer({ folder: databaseFolder });
  await database.createDatabase("relicario");
  await database.createDatabase("relicario_identity");
  databaseRelay.setTargets([getPort(database)]);
  const urlThroughRelay = new URL(database.getUrl("relicario"));
  urlThroughRelay.port = String(databaseRelay.port);

  const shutdownState = { isStopping: false };
  const restarts = new Set<Promise<void>>();
  const restart = (start: () => Promise<void>): void => {
    const pendingRestart = startWithRetry(start, shutdownState).finally(() => restarts.delete(pendingRestart));
    restarts.add(pendingRestart);
  };

  const createNamedChild = (
    name: Exclude<ProcessName, "database">,
    script: string,
    variables: (port: number) => Readonly<Record<string, string>>,
  ): Child => {
    const child: Child = createChild({
      name,
      script,
      buildEnvironment: (port) => ({ ...variables(port), ...processEnvironments[name] }),
      logFile: join(folder, `${name}.log`),
      onUnexpectedExit: () => {
        restart(() => child.start());
      },
    });
    return child;
  };
  const generatedKeys = {
    SESSION_KEYS: JSON.stringify({ keys: [await createSessionKey()] }),
    RECORD_KEY: randomBytes(32).toString("base64url"),
  };
  const identityPort = await findFreePort();
  const identityEnvironment = await createEnvironment("", identityPort);
  const providerIssuer = identityEnvironment["IDENTITY_ISSUER"] ?? "";
  const createService = (name: "service-1" | "service-2"): Child =>
    createNamedChild(name, "api/src/main.ts", (port) => ({
      API_PORT: String(port),
      DATABASE_URL: urlThroughRelay.href,
      OBJECTS_URL: objectsFolder,
      MAIL_URL: join(folder, "outbox"),
      IDP_AUTHORITY: usesProvider ? providerIssuer : issuer.issuer,
      IDP_CLIENT_ID: clientId,
      PUBLIC_ORIGIN: "http://localhost:3000",
      ...generatedKeys,
      ...environment,
    }));
  const services = [createService("service-1"), createService("service-2")] as const;
  const { d: _, ...publicKey } = await createSessionKey();
  const gateway = createNamedChild("gateway", "tooling/src/serve/gateway-main.ts", (port) => ({
    GATEWAY_HOST: "127.0.0.1",
    GATEWAY_PORT: String(port),
    PUBLIC_ORIGIN: "http://localhost:3000",
    VAULT_ORIGIN: "http://localhost:3004",
    HOST_FOLDER: join(folder, "host"),
    DEPLOYMENTS_FOLDER: join(folder, "deployments"),
    PORTAL_PAGE: JSON.stringify({ vendor_id: "relicario", portal_keys: [publicKey], team_keys: {} }),
    IDP_AUTHORITY: issuer.issuer,
    API_BASE_URL: "http://localhost:3000/api",
    UPSTREAMS: JSON.stringify({ api: `http://127.0.0.1:${String(balancer.port)}` }),
  }));
  const identity = createNamedChild("identity", "api/src/identity/main.ts", () => ({
    ...identityEnvironment,
    IDENTITY_DATABASE_URL: new URL("/relicario_identity", urlThroughRelay).href,
  }));
  const children: Readonly<Record<Exclude<ProcessName, "database">, Child>> = {
    "service-1": services[0],
    "service-2": services[1],
    gateway,
    identity,
  };

  await identity.start();
  await Promise.all(services.map((service) => service.start()));
  balancer.setTargets(services.map((service) => service.getPort()));
  await gateway.start();
  const origin = `http://127.0.0.1:${String(gateway.getPort())}`;

  const getServiceOrigin = (service: Child): string => `http://127.0.0.1:${String(service.getPort())}`;

  const isReady = async (): Promise<boolean> => {
    if (restarts.size > 0 || Object.values(children).some((each) => !each.isRunning())) return false;
    const urls = [
      ...services.map((service) => `${getServiceOrigin(service)}/readyz`),
      `${origin}/api/readyz`,
      `http://127.0.0.1:${String(identityPort)}/readyz`,
    ];
    const readiness = await Promise.all(
      urls.map((url) =>
        fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
          ({ ok }) => ok,
          () => false,
        ),
      ),
    );
    return readiness.every(Boolean);
  };
  const deployment: TestDeployment = {
    origin,
    serviceOrigins: [getServiceOrigin(services[0]), getServiceOrigin(services[1])],
    providerIssuer,
    objectsFolder,
    databaseUrl: () => database.getUrl("relicario"),
    createAccessToken: (subject, claims) => issuer.createAccessToken(subject, claims),
    async signIn(subject, claims) {
      const response = await fetch(`${origin}/api/auth/token?app_vendor_id=relicario`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ token: await issuer.createAccessToken(subject, claims) }),
        signal: AbortSignal.timeout(callTimeoutMilliseconds),
      });
      if (!response.ok) throw new Error(`the exchange answered ${String(response.status)} ${await response.text()}`);
      return ((await response.json()) as { token: string }).token;
    },
    setDatabaseDelay: (milliseconds) => {
      databaseRelay.setDelay(milliseconds);
    },
    async kill(name) {
      if (name !== "database") {
        await children[name].kill();
        restart(() => children[name].start());
        return;
      }
      const pid = Number(readFileSync(join(databaseFolder, "cluster/postmaster.pid"), "utf8").split("\n")[0]);
      process.kill(pid, "SIGKILL");
      restart(async () => {
        database = await startDatabaseServer({ folder: databaseFolder });
        databaseRelay.setTargets([getPort(database)]);
      });
    },
    async waitUntilReady() {
      const startedAt = performance.now();
      while (!(await isReady())) {
        if (performance.now() - startedAt > recoveryTimeoutMilliseconds)
          throw new Error(`the deployment did not recover:\n${deployment.readLogTails()}`);
        await pause(20);
      }
      return performance.now() - startedAt;
    },
    readLogTails: () =>
      Object.keys(children)
        .map(
          (name) =>
            `${name}: ${readFileSync(join(folder, `${name}.log`), "utf8")
              .trim()
              .split("\n")
              .slice(-3)
              .join("\n  ")}`,
        )
        .join("\n"),
    async stop() {
      shutdownState.isStopping = true;
      await Promise.allSettled(restarts);
      await Promise.all(Object.values(children).map((each) => each.stop()));
      await Promise.all([balancer.stop(), databaseRelay.stop(), issuer.stop()]);
      await database.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return deployment;
}

/** Retries the start, since the process's dependencies may be restarting too. */
async function startWithRetry(start: () => Promise<void>, state: { readonly isStopping: boolean }): Promise<void> {
  while (!state.isStopping) {
    try {
      await start();
      return;
    } catch {
      await pause(200);
    }
  }
}

function getPort(database: DatabaseServer): number {
  return Number(new URL(database.getUrl("postgres")).port);
}
