/**
 * The whole system on one machine, every part the real one. Used by `npm start` and by the
 * end-to-end tests.
 */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { RemoteManifest, type PortalTrustAnchors, type RemoteName } from "@relicario/shared/contract";
import { z } from "zod";

import { ensureBuilt } from "../bundle/ensure-built.ts";
import { makeDeployment, type DeploymentInput } from "../deployment/deployment.ts";
import { loadTeamKeyPair } from "../keys/development-keys.ts";
import { rootFolder } from "../paths.ts";
import { startVendor } from "../portal/operations.ts";
import { openStore } from "../portal/store.ts";
import { makeRelease, findCurrentRelease } from "../release/release.ts";
import { remoteNames } from "../remotes.ts";
import { createChild, type Child, type ChildSettings } from "./child.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { createDatabaseChild } from "./database-child.ts";
import { tryLock } from "../keys/lock.ts";
import { choosePorts } from "./ports.ts";
import { createSupervisor } from "./supervisor.ts";
import type { AdditionalVendor } from "./second-vendor.ts";
import { loadMetricsToken, loadSecrets, type DemoAccount } from "../keys/secrets.ts";
import { readStartSettings } from "./settings.ts";
import { createStaticChildren } from "./static-children.ts";

/**
 * The database server, the service, the identity provider, the static server of each remote and the
 * one process of them all, and the gateway in front.
 */
export const processNames: readonly string[] = [
  "database",
  "identity",
  "service",
  "remotes",
  ...remoteNames,
  "gateway",
];
/** One of {@link processNames}. */
export type ProcessName = string;

export interface PortalSettings {
  /**
   * The gateway's port, the identity provider's is the next, the second vendor's the one after,
   * then that of a remote in development; 0 takes free ones.
   */
  readonly port: number;
  /** Everything that lasts: database, objects, mail, keys, logs. */
  readonly dataDir: string;
  /** Told what is being built, what ended by itself and when it is started again. */
  readonly log?: (line: string) => void;
  /** More environment for some processes, such as short lifetimes in a test. */
  readonly environment?: Readonly<
    Partial<Record<"identity" | "service" | "gateway", Readonly<Record<string, string>>>>
  >;
  /** Built remotes from outside this repository, beside those of `REMOTES`. */
  readonly remoteFolders?: readonly string[];
  /**
   * A second vendor, with a portal on an origin of its own: the same host, service and identity
   * provider.
   */
  readonly secondVendor?: AdditionalVendor;
  /** Cloud drives of the deployment document, in place of the vendor's. */
  readonly drives?: NonNullable<DeploymentInput["drives"]>;
  /** Processes that start anew when their sources change. */
  readonly watch?: readonly ProcessName[];
  /**
   * Gives up starting: what was started is undone, and {@link startPortal} rejects with the
   * signal's reason.
   */
  readonly signal?: AbortSignal;
}

export interface RunningPortal {
  readonly origin: string;
  /** The second vendor's; null without one. */
  readonly secondOrigin: string | null;
  readonly identityOrigin: string;
  readonly dataDir: string;
  /**
   * Address of a database of the embedded server (`relicario`, `relicario_identity`), password
   * included.
   */
  readonly databaseUrl: (name: DatabaseName) => string;
  /** An account that is there from the start. */
  readonly demo: DemoAccount;
  readonly processes: {
    /** All that run here. */
    readonly names: readonly ProcessName[];
    readonly stop: (name: ProcessName) => Promise<void>;
    readonly kill: (name: ProcessName) => Promise<void>;
    readonly start: (name: ProcessName) => Promise<void>;
    readonly isRunning: (name: ProcessName) => boolean;
    /** Where it listens on 127.0.0.1, also while it does not run. */
    readonly port: (name: ProcessName) => number;
  };
  /** Signs the present releases anew, with a higher sequence. */
  readonly publish: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

type DatabaseName = "relicario" | "relicario_identity";

/** The vendor of a portal that is started here. */
export const defaultVendorId = "relicario";
const renewalIntervalMs = 24 * 60 * 60_000;

/**
 * Builds what is not built, starts everything and waits until it is healthy.
 * @throws UserFacingError, with one line, for what the person can put right: a port in use, a
 *   second start on the same folder
 */
export async function startPortal({
  port,
  dataDir,
  log = () => undefined,
  environment = {},
  remoteFolders = [],
  secondVendor,
  drives,
  watch = [],
  signal,
}: PortalSettings): Promise<RunningPortal> {
  const startSettings = readStartSettings({ ...process.env, PORT: String(port), DATA_DIR: dataDir });
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = tryLock(join(dataDir, "running.lock"));
  if ("heldBy" in lock)
    throw new UserFacingError(
      `The portal is already running on ${dataDir} (process ${String(lock.heldBy.pid)}). Stop it first, or use another folder with DATA_DIR.`,
    );

  /** How to undo what was started, the last first. */
  const cleanups: (() => Promise<void> | void)[] = [lock.release];
  let stopping: Promise<void> | null = null;
  const children: Child[] = [];
  const requireChild = (name: ProcessName): Child => {
    const match = children.find((child) => child.name === name);
    if (match === undefined) throw new TypeError(`${name} is not run here`);
    return match;
  };
  const supervisor = createSupervisor({ log, start: (name) => requireChild(name).start() });
  const onUnexpectedExit = (name: ProcessName, reason: string): void => void supervisor.handleExit(name, reason);
  const stop = (): Promise<void> => {
    supervisor.stop();
    return (stopping ??= runCleanups(cleanups));
  };
  try {
    const ports = await choosePorts(port, secondVendor === undefined ? 2 : 3);
    await raceWithAbort(ensureBuilt(log), signal); // builds end with this process

    const origin = `http://localhost:${String(ports.gateway)}`;
    const authority = startSettings.authority ?? `http://localhost:${String(ports.identity)}/realms/relicario`;
    const secondOrigin = secondVendor === undefined ? null : `http://localhost:${String(ports.secondGateway)}`;
    const origins = secondOrigin === null ? [origin] : [origin, secondOrigin];
    // A remote in development has an origin of its own beside this portal (develop-remote.ts), in
    // production none.
    const allowedOrigins =
      startSettings.environment === "production"
        ? origins
        : [...origins, `http://localhost:${String(ports.development)}`];
    const apiBase = `${origin}/api`;
    const secrets = await loadSecrets(join(dataDir, "keys"));
    const operatorToken = process.env["METRICS_TOKEN"] ?? (await loadMetricsToken(join(dataDir, "keys")));
    const store = await openStore({
      keys: join(dataDir, "keys"),
      deployments: join(dataDir, "deployments"),
      registry: join(dataDir, "releases"),
    });
    const databases = startSettings.databaseUrls ?? (await startEmbeddedDatabases());
    signal?.throwIfAborted();

    const createPortalChild = (
      settings: Omit<ChildSettings, "logFile" | "onUnexpectedExit" | "name" | "watch"> & { readonly name: ProcessName },
    ): Child =>
      createChild({
        ...settings,
        environment: (childPort) => ({
          ...settings.environment(childPort),
          ...Object.entries(environment).find(([name]) => name === settings.name)?.[1],
        }),
        watch: watch.includes(settings.name),
        logFile: join(dataDir, "logs", `${settings.name}.log`),
        onUnexpectedExit,
      });
    const identity = createPortalChild({
      name: "identity",
      script: "api/src/identity/main.ts",
      port: ports.identity,
      environment: (childPort) => ({
        IDENTITY_PORT: String(childPort),
        IDENTITY_HOST: "localhost",
        IDENTITY_ISSUER: authority,
        IDENTITY_DATABASE_URL: databases.identity ?? "",
        IDENTITY_CLIENTS: JSON.stringify([
          {
            client_id: startSettings.clientId,
            redirect_uris: allowedOrigins.flatMap((allowedOrigin) => [
              `${allowedOrigin}/`,
              `${allowedOrigin}/silent-renew.html`,
            ]),
            post_logout_redirect_uris: allowedOrigins.map((allowedOrigin) => `${allowedOrigin}/`),
            origins: allowedOrigins,
          },
        ]),
        ...secrets.identity,
        IDENTITY_ADMIN_TOKEN: secrets.identityAdminToken,
        DEMO_ACCOUNT: JSON.stringify(secrets.demo),
      }),
    });
    const service = createPortalChild({
      name: "service",
      script: "api/src/main.ts",
      environment: (childPort) => ({
        OBJECTS_URL: process.env["OBJECTS_URL"] ?? join(dataDir, "objects"),
        MAIL_URL: process.env["MAIL_URL"] ?? join(dataDir, "outbox"),
        STOP_WAIT_SECONDS: "0", // nobody balances
        STOP_DRAIN_SECONDS: "8",
        API_HOST: "127.0.0.1",
        API_PORT: String(childPort),
        DATABASE_URL: databases.service,
        IDP_AUTHORITY: authority,
        IDP_CLIENT_ID: startSettings.clientId,
        ...(startSettings.authority === null && {
          IDP_ADMIN: JSON.stringify({ kind: "embedded", url: authority, token: secrets.identityAdminToken }),
        }),
        PUBLIC_ORIGIN: origin,
        API_BASE_URL: apiBase,
        TRUSTED_PROXIES: "loopback", // the gateway; whom that one trusts is the operator's to say
        ...(secondVendor !== undefined &&
          process.env["VENDORS"] === undefined && {
            VENDORS: JSON.stringify([
              { vendor_id: defaultVendorId, name: "Relicario" },
              { vendor_id: secondVendor.id, name: secondVendor.name, origin: secondOrigin },
            ]),
          }),
        ENVIRONMENT: startSettings.environment,
        APP_VERSION: readAppVersion(),
        DEPLOYMENTS_FOLDER: store.deployments,
        METRICS_TOKEN: operatorToken,
        ...secrets.service,
      }),
    });
    const sites: Site[] = [
      {
        gateway: "gateway",
        vendor: defaultVendorId,
        origin,
        port: ports.gateway,
        servedRemotes: resolveServedRemotes([...startSettings.remoteFolders, ...remoteFolders]),
        ...(drives !== undefined && { drives }),
      },
    ];
    if (secondVendor !== undefined && secondOrigin !== null) {
      sites.push({
        gateway: `gateway-${secondVendor.id}`,
        vendor: secondVendor.id,
        origin: secondOrigin,
        port: ports.secondGateway,
        servedRemotes: resolveServedRemotes(secondVendor.remoteFolders, `${secondVendor.id}-`),
      });
    }
    const names = new Set(sites.flatMap(({ servedRemotes }) => servedRemotes.map(({ name }) => name)));
    const remotes = createStaticChildren(new Map([...names].map((name) => [name, join(store.registry, name)])), {
      logFile: join(dataDir, "logs", "remotes.log"),
      onUnexpectedExit,
    });
    const portals = await Promise.all(
      sites.map(async (site) => {
        const { vendor, servedRemotes } = site;
        const trustAnchors: PortalTrustAnchors = {
          vendor_id: vendor,
          portal_keys: [store.key.publicKey],
          team_keys: await loadTeamKeys(servedRemotes),
        };
        const gateway = createPortalChild({
          name: site.gateway,
          script: "tooling/src/serve/gateway-main.ts",
          port: site.port,
          environment: (childPort) => ({
            GATEWAY_HOST: "localhost",
            GATEWAY_PORT: String(childPort),
            PUBLIC_ORIGIN: site.origin,
            HOST_FOLDER: join(rootFolder, "host/dist"),
            DEPLOYMENTS_FOLDER: store.deployments,
            PORTAL_PAGE: JSON.stringify(trustAnchors),
            IDP_AUTHORITY: authority,
            API_BASE_URL: `${site.origin}/api`,
            UPSTREAMS: JSON.stringify({
              api: getChildAddress(service),
              ...Object.fromEntries(
                remotes.servers
                  .filter(({ name }) => servedRemotes.some((remote) => remote.name === name))
                  .map((remote) => [remote.name, getChildAddress(remote)]),
              ),
            }),
          }),
        });
        return { ...site, page: trustAnchors, gateway };
      }),
    );

    const publish = async (): Promise<void> => {
      for (const { vendor, origin: vendorOrigin, page, servedRemotes, drives: vendorDrives } of portals) {
        const releases = await Promise.all(servedRemotes.map(prepareRelease));
        const deploymentFacts = {
          vendorId: vendor,
          origin: vendorOrigin,
          environment: startSettings.environment,
          appVersion: readAppVersion(),
          releases,
        };
        const api = {
          base_url: `${vendorOrigin}/api`,
          credentials: false,
          ...(vendorOrigin !== origin && { issuer: apiBase }),
        };
        const settings = {
          identity: { authority, client_id: startSettings.clientId, scope: "openid profile email" },
          api,
          ...(vendorDrives !== undefined && { drives: vendorDrives }),
        };
        await startVendor(store, {
          deployment: makeDeployment({ ...deploymentFacts, ...settings }, 1, new Date()),
          page,
          releases,
        });
      }
    };

    const gateways = portals.map(({ gateway }) => gateway);
    const allChildren = [
      ...(startSettings.authority === null ? [identity] : []),
      service,
      remotes.process,
      ...gateways,
    ];
    children.push(...allChildren, ...remotes.servers);
    cleanups.push(async () => {
      await Promise.all(gateways.map((gateway) => gateway.stop()));
      await Promise.all(allChildren.map((child) => child.stop()));
    });
    await publish(); // the static servers serve what it puts into the registry
    // Everything but the gateways at once: they need to know where the others are.
    await waitForAll([...allChildren.filter((child) => !gateways.includes(child)).map((child) => child.start())]);
    signal?.throwIfAborted();
    await waitForAll(gateways.map((gateway) => gateway.start()));
    await waitUntilHealthy([
      `${authority.replace(/\/$/, "")}/.well-known/openid-configuration`,
      ...portals.flatMap((portal) => [
        `${portal.origin}/healthz`,
        `${portal.origin}/api/readyz`,
        ...portal.servedRemotes.map(({ name }) => `${portal.origin}/r/${name}/healthz`),
      ]),
    ]);
    signal?.throwIfAborted();

    // A document lives for a week; a portal that runs for longer signs again long before.
    const renewal = setInterval(() => {
      publish().catch((error: unknown) =>
        log(`The deployment document could not be renewed: ${error instanceof Error ? error.message : "unknown"}`),
      );
    }, renewalIntervalMs);
    renewal.unref();
    cleanups.push(() => clearInterval(renewal));

    return {
      origin,
      secondOrigin,
      identityOrigin: new URL(authority).origin,
      dataDir,
      demo: secrets.demo,
      databaseUrl: (name) => (name === "relicario" ? databases.service : (databases.identity ?? "")),
      processes: {
        names: children.map((child) => child.name),
        stop: (name) => requireChild(name).stop(),
        kill: (name) => requireChild(name).kill(),
        start: (name) => requireChild(name).start(),
        isRunning: (name) => requireChild(name).isRunning(),
        port: (name) => requireChild(name).port(),
      },
      publish,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }

  async function startEmbeddedDatabases(): Promise<{ readonly service: string; readonly identity: string }> {
    const database = createDatabaseChild({ folder: join(dataDir, "database"), onUnexpectedExit });
    children.push(database);
    cleanups.push(() => database.stop());
    await database.start();
    await database.createDatabase("relicario");
    await database.createDatabase("relicario_identity");
    return { service: database.url("relicario"), identity: database.url("relicario_identity") };
  }
}

/** The work's own end, or the signal's reason as soon as it is given. */
async function raceWithAbort(task: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const aborted = new Promise<void>((resolve) => {
    signal?.addEventListener("abort", () => resolve(), { once: true });
  });
  await Promise.race([task, aborted]);
  signal?.throwIfAborted();
}

/** What one vendor's portal is. */
interface Site {
  /** Name of its gateway's process. */
  readonly gateway: ProcessName;
  readonly vendor: string;
  readonly origin: string;
  readonly port: number;
  readonly servedRemotes: readonly ServedRemote[];
  readonly drives?: NonNullable<DeploymentInput["drives"]>;
}

/** A remote whose releases are served here. */
interface ServedRemote {
  readonly name: RemoteName;
  /** Whose development key signs its releases. */
  readonly team: string;
  /** Of its package; releases lie in `dist`. */
  readonly folder: string;
  readonly isExternal: boolean;
}

/**
 * The remotes of this repository, and others; one of the same name takes the place of ours.
 * `teamPrefix` stands before the names of the others' teams.
 */
function resolveServedRemotes(externalFolders: readonly string[], teamPrefix = ""): readonly ServedRemote[] {
  const remotesByName = new Map<RemoteName, ServedRemote>(
    remoteNames.map((name) => [
      name,
      { name, team: name, folder: join(rootFolder, `remote-${name}`), isExternal: false },
    ]),
  );
  for (const folder of externalFolders) {
    if (!existsSync(join(folder, "build/web")))
      throw new UserFacingError(`${folder} is not a remote that is built: it has no build/web.`);
    const { name } = RemoteManifest.parse(JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")));
    remotesByName.set(name, { name, team: `${teamPrefix}${name}`, folder, isExternal: true });
  }
  return [...remotesByName.values()];
}

/**
 * What was built last; of a remote from elsewhere the release is made here, signed with a
 * development key.
 */
async function prepareRelease({ name, team, folder, isExternal }: ServedRemote) {
  const key = await loadTeamKeyPair(team);
  const release = isExternal
    ? await makeRelease({ remote: name, packageFolder: folder, webFolder: join(folder, "build/web"), key })
    : await findCurrentRelease(folder, key);
  if (release === null) throw new UserFacingError(`remote-${name} is not built.`);
  return release;
}

async function loadTeamKeys(servedRemotes: readonly ServedRemote[]): Promise<PortalTrustAnchors["team_keys"]> {
  return Object.fromEntries(
    await Promise.all(
      servedRemotes.map(
        async ({ name, team }) =>
          [name, [(await loadTeamKeyPair(team)).publicKey]] satisfies [
            RemoteName,
            PortalTrustAnchors["team_keys"][string],
          ],
      ),
    ),
  );
}

function readAppVersion(): string {
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(rootFolder, "package.json"), "utf8")))
    .version;
}

function getChildAddress(child: Child): string {
  return `http://127.0.0.1:${String(child.port())}`;
}

/** Waits for all, also when one fails: what still starts could not be stopped otherwise. */
async function waitForAll(tasks: readonly Promise<void>[]): Promise<void> {
  const failure = (await Promise.allSettled(tasks)).find((result) => result.status === "rejected");
  if (failure !== undefined) throw failure.reason;
}

async function waitUntilHealthy(addresses: readonly string[]): Promise<void> {
  const deadline = Date.now() + 30_000;
  await waitForAll(
    addresses.map(async (address) => {
      for (;;) {
        const status = await fetch(address).then(
          ({ status }) => String(status),
          () => "no answer",
        );
        if (status === "200") return;
        if (Date.now() > deadline) throw new UserFacingError(`${address} is not healthy: ${status}.`);
        await pause(100);
      }
    }),
  );
}

/** The last first; one that fails does not keep the others from being undone. */
async function runCleanups(cleanups: (() => Promise<void> | void)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const cleanup of cleanups.reverse()) {
    try {
      await cleanup();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
