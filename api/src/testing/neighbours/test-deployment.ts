/**
 * A small deployment of real processes: one gateway, two services behind a balancer, PostgreSQL
 * with fsync, one folder of objects. Whatever dies is started again, as an operator's supervisor
 * would.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { createChild, type Child } from "@relicario/tooling/child";
import { startDatabaseServer, type DatabaseServer } from "@relicario/tooling/database";

import { createSessionKey, startIssuer } from "../issuer.ts";
import { callTimeoutMilliseconds } from "./caller.ts";
import { startRelay } from "./relay.ts";

export const processNames = ["service-1", "service-2", "gateway", "database"] as const;
export type ProcessName = (typeof processNames)[number];

export interface TestDeployment {
  /** The gateway's: `http://127.0.0.1:<port>`. */
  readonly origin: string;
  readonly objectsFolder: string;
  readonly databaseUrl: () => string;
  /** An access token of the identity provider, and the session token that it is exchanged for. */
  accessToken(subject: string): Promise<string>;
  signIn(subject: string): Promise<string>;
  /** SIGKILL; the supervisor starts it again. Resolves once it is dead. */
  kill(name: ProcessName): Promise<void>;
  /**
   * Resolves once every process runs and readiness is told through the gateway; the number of
   * milliseconds that took.
   */
  waitUntilReady(): Promise<number>;
  /** Lines of all logs, for what went wrong. */
  readLogTails(): string;
  stop(): Promise<void>;
}

/**
 * How long a part of it may take to come back, in milliseconds, before that counts as a failure.
 */
const recoveryTimeoutMilliseconds = 60_000;

export async function startTestDeployment(environment: Readonly<Record<string, string>> = {}): Promise<TestDeployment> {
  const folder = mkdtempSync(join(tmpdir(), "relicario-stand-"));
  const objectsFolder = join(folder, "objects");
  mkdirSync(join(folder, "host"), { recursive: true });
  mkdirSync(join(folder, "deployments"));
  writeFileSync(
    join(folder, "host/index.html"),
    '<!doctype html><title>portal</title><script type="application/json" id="portal-page"></script>',
  );

  const issuer = await startIssuer();
  const databaseRelay = await startRelay();
  const balancer = await startRelay();
  const databaseFolder = join(folder, "database");
  let database: DatabaseServer = await startDatabaseServer({ folder: databaseFolder });
  await database.createDatabase("relicario");
  databaseRelay.setTargets([getPort(database)]);
  const urlThroughRelay = new URL(database.url("relicario"));
  urlThroughRelay.port = String(databaseRelay.port);

  const shutdownState = { stopping: false };
  const restarts = new Set<Promise<void>>();
  const restart = (start: () => Promise<void>): void => {
    const pendingRestart = startWithRetry(start, shutdownState).finally(() => restarts.delete(pendingRestart));
    restarts.add(pendingRestart);
  };

  const createNamedChild = (
    name: string,
    script: string,
    variables: (port: number) => Readonly<Record<string, string>>,
  ): Child => {
    const child: Child = createChild({
      name,
      script,
      environment: variables,
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
  const createService = (name: string): Child =>
    createNamedChild(name, "api/src/main.ts", (port) => ({
      API_PORT: String(port),
      DATABASE_URL: urlThroughRelay.href,
      OBJECTS_URL: objectsFolder,
      MAIL_URL: join(folder, "outbox"),
      IDP_AUTHORITY: issuer.issuer,
      IDP_CLIENT_ID: "relicario-portal",
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
    HOST_FOLDER: join(folder, "host"),
    DEPLOYMENTS_FOLDER: join(folder, "deployments"),
    PORTAL_PAGE: JSON.stringify({ vendor_id: "relicario", portal_keys: [publicKey], team_keys: {} }),
    IDP_AUTHORITY: issuer.issuer,
    API_BASE_URL: "http://localhost:3000/api",
    UPSTREAMS: JSON.stringify({ api: `http://127.0.0.1:${String(balancer.port)}` }),
  }));
  const children: Readonly<Record<Exclude<ProcessName, "database">, Child>> = {
    "service-1": services[0],
    "service-2": services[1],
    gateway,
  };

  await Promise.all(services.map((service) => service.start()));
  balancer.setTargets(services.map((service) => service.port()));
  await gateway.start();
  const origin = `http://127.0.0.1:${String(gateway.port())}`;

  const isReady = async (): Promise<boolean> => {
    if (restarts.size > 0 || Object.values(children).some((each) => !each.isRunning())) return false;
    const urls = [
      ...services.map((service) => `http://127.0.0.1:${String(service.port())}/readyz`),
      `${origin}/api/readyz`,
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
    objectsFolder,
    databaseUrl: () => database.url("relicario"),
    accessToken: (subject) => issuer.accessToken(subject),
    async signIn(subject) {
      const response = await fetch(`${origin}/api/auth/token?app_vendor_id=relicario`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ token: await issuer.accessToken(subject) }),
        signal: AbortSignal.timeout(callTimeoutMilliseconds),
      });
      if (!response.ok) throw new Error(`the exchange answered ${String(response.status)} ${await response.text()}`);
      return ((await response.json()) as { token: string }).token;
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
          throw new Error(`it does not come back:\n${deployment.readLogTails()}`);
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
      shutdownState.stopping = true;
      await Promise.allSettled(restarts);
      await Promise.all(Object.values(children).map((each) => each.stop()));
      await Promise.all([balancer.stop(), databaseRelay.stop(), issuer.stop()]);
      await database.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return deployment;
}

/** What it needs may be coming back too. */
async function startWithRetry(start: () => Promise<void>, state: { readonly stopping: boolean }): Promise<void> {
  while (!state.stopping) {
    try {
      await start();
      return;
    } catch {
      await pause(200);
    }
  }
}

function getPort(database: DatabaseServer): number {
  return Number(new URL(database.url("postgres")).port);
}
