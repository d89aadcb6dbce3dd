/** Starts the whole system, for `npm start` and the end-to-end tests. */
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { RemoteManifest, type PortalTrustAnchors, type RemoteName } from "@relicario/shared/contract";
import { z } from "zod";

import { ensureBuilt } from "../bundle/ensure-built.ts";
import { makeDeployment, type DeploymentInput } from "../deployment/deployment.ts";
import { loadTeamKeyPair } from "../keys/signing-keys.ts";
import { rootFolder } from "../paths.ts";
import { addTeamKeys, publishAtStart } from "../portal/operations.ts";
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
import { loadMetricsToken, loadProcessSecrets, type DemoAccount } from "../keys/process-secrets.ts";
import { readStartSettings } from "./settings.ts";
import { createStaticChildren } from "./static-children.ts";

/** `remotes` is the process of all static servers, each of which has its remote's name. */
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
   * Port of the gateway. The identity provider, the second vendor, a remote in development and the
   * vaults take the next ports (ports.ts). 0 takes free ones.
   */
  readonly port: number;
  /**
   * Of the portal and the identity provider, below `localhost`, which browsers find on this
   * machine; the vault is at `vault.` below it. Default: `localhost` for all.
   */
  readonly hostName?: `${string}.localhost`;
  /** Database, objects, mail, keys, logs. */
  readonly dataDir: string;
  /** Receives lines about builds, unexpected exits and restarts. */
  readonly log?: (line: string) => void;
  /** For some processes, such as short lifetimes in a test. */
  readonly environment?: Readonly<
    Partial<Record<"identity" | "service" | "gateway", Readonly<Record<string, string>>>>
  >;
  /** Built remotes outside this repository, in addition to those of `REMOTES`. */
  readonly remoteFolders?: readonly string[];
  /** Has its own origin, and shares host, service and identity provider. */
  readonly secondVendor?: AdditionalVendor;
  /** Replaces the vendor's drives. */
  readonly drives?: NonNullable<DeploymentInput["drives"]>;
  readonly watch?: readonly ProcessName[];
  /** Stops everything, and {@link startPortal} rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface RunningPortal {
  readonly origin: string;
  readonly secondOrigin: string | null;
  /** Where the gateway serves the vault. */
  readonly vaultOrigin: string;
  readonly identityOrigin: string;
  readonly dataDir: string;
  /** With the password. */
  readonly getDatabaseUrl: (name: DatabaseName) => string;
  /** Null with an identity provider of your own. */
  readonly demoAccount: DemoAccount | null;
  readonly processes: {
    readonly names: readonly ProcessName[];
    readonly stop: (name: ProcessName) => Promise<void>;
    readonly kill: (name: ProcessName) => Promise<void>;
    readonly start: (name: ProcessName) => Promise<void>;
    readonly isRunning: (name: ProcessName) => boolean;
    /** Port on 127.0.0.1, also of a stopped process. */
    readonly getPort: (name: ProcessName) => number;
  };
  /** With a higher sequence. */
  readonly publish: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

type DatabaseName = "relicario" | "relicario_identity";

export const defaultVendorId = "relicario";
const renewalIntervalMs = 24 * 60 * 60_000;

/**
 * @throws UserFacingError, with one line, for what the user can fix: a port in use, a second start
 * on the same folder
 */
export async function startPortal({
  port,
  hostName,
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

  const cleanups = new AsyncDisposableStack();
  cleanups.defer(lock.release);
  let stopPromise: Promise<void> | null = null;
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
    return (stopPromise ??= cleanups.disposeAsync());
  };
  try {
    const ports = await choosePorts(port, {
      hasIdentity: startSettings.authority === null,
      hasSecondVendor: secondVendor !== undefined,
    });
    await raceWithAbort(ensureBuilt(log), signal); // running builds end with this process

    const origin = buildLocalOrigin(ports.gateway, hostName);
    const vaultHostName = hostName === undefined ? undefined : `vault.${hostName}`;
    const authority = startSettings.authority ?? `${buildLocalOrigin(ports.identity, hostName)}/realms/relicario`;
    const secondOrigin = secondVendor === undefined ? null : buildLocalOrigin(ports.secondGateway, hostName);
    const origins = secondOrigin === null ? [origin] : [origin, secondOrigin];
    // A remote in development has its own origin (develop-remote.ts), except in production.
    const developmentOrigin = startSettings.environment === "production" ? null : buildLocalOrigin(ports.development);
    const allowedOrigins = developmentOrigin === null ? origins : [...origins, developmentOrigin];
    const vaultOrigins = [ports.vault, ...(secondVendor === undefined ? [] : [ports.secondVault])].map((vaultPort) =>
      buildLocalOrigin(vaultPort, vaultHostName),
    );
    const apiBase = `${origin}/api`;
    const secrets = await loadProcessSecrets(join(dataDir, "keys"));
    const metricsToken = process.env["METRICS_TOKEN"] ?? (await loadMetricsToken(join(dataDir, "keys")));
    const store = await openStore({
      keysFolder: join(dataDir, "keys"),
      deploymentsFolder: join(dataDir, "deployments"),
      registryFolder: join(dataDir, "releases"),
    });
    const databases = startSettings.databaseUrls ?? (await startEmbeddedDatabases());
    signal?.throwIfAborted();

    const createPortalChild = (
      settings: Omit<ChildSettings, "logFile" | "onUnexpectedExit" | "name" | "watch"> & { readonly name: ProcessName },
    ): Child =>
      createChild({
        ...settings,
        buildEnvironment: (childPort) => ({
          OTEL_SERVICE_NAME: `relicario-${settings.name}`,
          ...settings.buildEnvironment(childPort),
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
      buildEnvironment: (childPort) => ({
        IDENTITY_PORT: String(childPort),
        IDENTITY_HOST: "localhost",
        IDENTITY_ISSUER: authority,
        IDENTITY_DATABASE_URL: databases.identity ?? "",
        IDENTITY_CLIENTS: JSON.stringify([
          {
            client_id: startSettings.clientId,
            redirect_uris: [
              ...allowedOrigins.flatMap((allowedOrigin) => [`${allowedOrigin}/`, `${allowedOrigin}/silent-renew.html`]),
              ...vaultOrigins.map((vaultOrigin) => `${vaultOrigin}/signed-in`),
            ],
            post_logout_redirect_uris: allowedOrigins.map((allowedOrigin) => `${allowedOrigin}/`),
            origins: [...allowedOrigins, ...vaultOrigins],
          },
        ]),
        ...secrets.identity,
        IDENTITY_ADMIN_TOKEN: secrets.identityAdminToken,
        METRICS_TOKEN: metricsToken,
        DEMO_ACCOUNT: JSON.stringify(secrets.demoAccount),
      }),
    });
    const service = createPortalChild({
      name: "service",
      script: "api/src/main.ts",
      buildEnvironment: (childPort) => ({
        OBJECTS_URL: process.env["OBJECTS_URL"] ?? join(dataDir, "objects"),
        MAIL_URL: process.env["MAIL_URL"] ?? join(dataDir, "outbox"),
        STOP_WAIT_SECONDS: "0", // no load balancer waits
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
        TRUSTED_PROXIES: "loopback", // trusts the gateway; the operator sets what the gateway trusts
        ...(secondVendor !== undefined &&
          process.env["VENDORS"] === undefined && {
            VENDORS: JSON.stringify([
              { vendor_id: defaultVendorId, name: "Relicario" },
              { vendor_id: secondVendor.id, name: secondVendor.name, origin: secondOrigin },
            ]),
          }),
        ENVIRONMENT: startSettings.environment,
        APP_VERSION: readAppVersion(),
        DEPLOYMENTS_FOLDER: store.deploymentsFolder,
        METRICS_TOKEN: metricsToken,
        ...secrets.service,
      }),
    });
    const vendorPortals: VendorPortal[] = [
      {
        gateway: "gateway",
        vendorId: defaultVendorId,
        origin,
        port: ports.gateway,
        vaultPort: ports.vault,
        servedRemotes: resolveServedRemotes([...startSettings.remoteFolders, ...remoteFolders]),
        ...(drives !== undefined && { drives }),
      },
    ];
    if (secondVendor !== undefined && secondOrigin !== null) {
      vendorPortals.push({
        gateway: `gateway-${secondVendor.id}`,
        vendorId: secondVendor.id,
        origin: secondOrigin,
        port: ports.secondGateway,
        vaultPort: ports.secondVault,
        servedRemotes: resolveServedRemotes(secondVendor.remoteFolders, `${secondVendor.id}-`),
      });
    }
    const trustedPortals = await Promise.all(
      vendorPortals.map(async (vendorPortal) => ({
        ...vendorPortal,
        trustAnchors: addTeamKeys(store, {
          vendor_id: vendorPortal.vendorId,
          portal_keys: [store.portalKeyPair.publicKey],
          team_keys: await loadTeamKeys(vendorPortal.servedRemotes),
        }),
      })),
    );
    const names = new Set(trustedPortals.flatMap(({ trustAnchors }) => Object.keys(trustAnchors.team_keys)));
    const remotes = createStaticChildren(new Map([...names].map((name) => [name, join(store.registryFolder, name)])), {
      logFile: join(dataDir, "logs", "remotes.log"),
      onUnexpectedExit,
    });
    const portals = trustedPortals.map((vendorPortal) => {
      const { trustAnchors } = vendorPortal;
      const gateway = createPortalChild({
        name: vendorPortal.gateway,
        script: "tooling/src/serve/gateway-main.ts",
        port: vendorPortal.port,
        buildEnvironment: (childPort) => ({
          GATEWAY_HOST: "localhost",
          GATEWAY_PORT: String(childPort),
          PUBLIC_ORIGIN: vendorPortal.origin,
          VAULT_ORIGIN: buildLocalOrigin(vendorPortal.vaultPort, vaultHostName),
          VAULT_PORT: String(vendorPortal.vaultPort),
          ...(developmentOrigin !== null &&
            vendorPortal.vendorId === defaultVendorId && { DEVELOPMENT_ORIGIN: developmentOrigin }),
          HOST_FOLDER: join(rootFolder, "host/dist"),
          DEPLOYMENTS_FOLDER: store.deploymentsFolder,
          PORTAL_PAGE: JSON.stringify(trustAnchors),
          IDP_AUTHORITY: authority,
          METRICS_TOKEN: metricsToken,
          API_BASE_URL: `${vendorPortal.origin}/api`,
          UPSTREAMS: JSON.stringify({
            api: getChildAddress(service),
            ...Object.fromEntries(
              remotes.servers
                .filter(({ name }) => Object.hasOwn(trustAnchors.team_keys, name))
                .map((remote) => [remote.name, getChildAddress(remote)]),
            ),
          }),
        }),
      });
      return { ...vendorPortal, gateway };
    });

    const publish = async (): Promise<void> => {
      for (const { vendorId, origin: vendorOrigin, vaultPort, trustAnchors, servedRemotes, ...portal } of portals) {
        const releases = await Promise.all(servedRemotes.map(prepareRelease));
        const deploymentFacts = {
          vendorId,
          origin: vendorOrigin,
          vaultOrigin: buildLocalOrigin(vaultPort, vaultHostName),
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
          ...(portal.drives !== undefined && { drives: portal.drives }),
        };
        await publishAtStart(store, {
          deployment: makeDeployment({ ...deploymentFacts, ...settings }, 1, new Date()),
          trustAnchors,
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
    cleanups.defer(async () => {
      await Promise.all(gateways.map((gateway) => gateway.stop()));
      await Promise.all(allChildren.map((child) => child.stop()));
    });
    await publish(); // first: static servers serve the registry that it fills
    // Gateways start last: they need the addresses of the others.
    await waitForAll([...allChildren.filter((child) => !gateways.includes(child)).map((child) => child.start())]);
    signal?.throwIfAborted();
    await waitForAll(gateways.map((gateway) => gateway.start()));
    await waitUntilHealthy([
      `${authority.replace(/\/$/, "")}/.well-known/openid-configuration`,
      ...portals.flatMap((portal) => [
        `${portal.origin}/healthz`,
        `${buildLocalOrigin(portal.vaultPort, vaultHostName)}/controller`,
        `${portal.origin}/api/readyz`,
        ...portal.servedRemotes.map(({ name }) => `${portal.origin}/r/${name}/healthz`),
      ]),
    ]);
    signal?.throwIfAborted();

    // Documents are valid for a week.
    const renewal = setInterval(() => {
      publish().catch((error: unknown) =>
        log(`The deployment document could not be renewed: ${error instanceof Error ? error.message : "unknown"}`),
      );
    }, renewalIntervalMs);
    renewal.unref();
    cleanups.defer(() => clearInterval(renewal));

    return {
      origin,
      secondOrigin,
      vaultOrigin: buildLocalOrigin(ports.vault, vaultHostName),
      identityOrigin: new URL(authority).origin,
      dataDir,
      demoAccount: startSettings.authority === null ? secrets.demoAccount : null,
      getDatabaseUrl: (name) => (name === "relicario" ? databases.service : (databases.identity ?? "")),
      processes: {
        names: children.map((child) => child.name),
        stop: (name) => requireChild(name).stop(),
        kill: (name) => requireChild(name).kill(),
        start: (name) => requireChild(name).start(),
        isRunning: (name) => requireChild(name).isRunning(),
        getPort: (name) => requireChild(name).getPort(),
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
    cleanups.defer(() => database.stop());
    await database.start();
    await database.createDatabase("relicario");
    await database.createDatabase("relicario_identity");
    return { service: database.getUrl("relicario"), identity: database.getUrl("relicario_identity") };
  }
}

/** A line for the terminal: how to sign in. */
export function describeSignIn({ demoAccount, identityOrigin }: RunningPortal): string {
  return demoAccount === null
    ? `  Sign-in by      ${identityOrigin}`
    : `  Demo account    ${demoAccount.email}   password  ${demoAccount.password}`;
}

/** Waits for a task; rejects with the signal's reason as soon as it is aborted. */
async function raceWithAbort(task: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await (signal === undefined ? task : Promise.race([task, once(signal, "abort")]));
  signal?.throwIfAborted();
}

interface VendorPortal {
  readonly gateway: ProcessName;
  readonly vendorId: string;
  readonly origin: string;
  readonly port: number;
  readonly vaultPort: number;
  readonly servedRemotes: readonly ServedRemote[];
  readonly drives?: NonNullable<DeploymentInput["drives"]>;
}

interface ServedRemote {
  readonly name: RemoteName;
  /** Team whose development key signs the releases. */
  readonly team: string;
  /** The package; its releases are in `dist`. */
  readonly folder: string;
  readonly isExternal: boolean;
}

/**
 * External remotes replace ours of the same name. `teamPrefix` precedes the names of their teams.
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
      throw new UserFacingError(`${folder} is not a built remote: it has no build/web.`);
    const { name } = RemoteManifest.parse(JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")));
    remotesByName.set(name, { name, team: `${teamPrefix}${name}`, folder, isExternal: true });
  }
  return [...remotesByName.values()];
}

/** The release of an external remote is made here, signed with a development key. */
async function prepareRelease({ name, team, folder, isExternal }: ServedRemote) {
  const key = await loadTeamKeyPair(team);
  const release = isExternal
    ? await makeRelease({ remote: name, packageFolder: folder, webFolder: join(folder, "build/web"), keyPair: key })
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

function buildLocalOrigin(port: number, hostName = "localhost"): string {
  return `http://${hostName}:${String(port)}`;
}

function getChildAddress(child: Child): string {
  return `http://127.0.0.1:${String(child.getPort())}`;
}

/** Waits for all tasks even when one fails: a process that is still starting cannot be stopped. */
async function waitForAll(tasks: readonly Promise<void>[]): Promise<void> {
  const failure = (await Promise.allSettled(tasks)).find((result) => result.status === "rejected");
  if (failure !== undefined) throw failure.reason;
}

async function waitUntilHealthy(addresses: readonly string[]): Promise<void> {
  const deadline = Date.now() + 30_000;
  await waitForAll(
    addresses.map(async (address) => {
      for (;;) {
        const status = await fetchStatus(address).catch(() => "no answer");
        if (status === 200) return;
        if (Date.now() > deadline) throw new UserFacingError(`${address} is not healthy: ${String(status)}.`);
        await pause(100);
      }
    }),
  );
}

/** Resolvers other than browsers may not know names below `localhost`. */
async function fetchStatus(address: string): Promise<number | undefined> {
  const { host, hostname, port, pathname } = new URL(address);
  if (!hostname.endsWith(".localhost")) return (await fetch(address)).status;
  const request = get({ host: "localhost", port, path: pathname, headers: { host } });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve).once("error", reject);
  });
  response.resume();
  return response.statusCode;
}
