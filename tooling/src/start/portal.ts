/**
 * The whole system on one machine, every part the real one. Used by `npm start` and by the
 * end-to-end tests.
 */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { RemoteManifest, type PortalPage, type RemoteName } from "@relicario/shared/contract";
import { z } from "zod";

import { ensureBuilt } from "../bundle/ensure-built.ts";
import { makeDeployment, type DeploymentFacts } from "../deployment/deployment.ts";
import { teamKey } from "../keys/development-keys.ts";
import { rootFolder } from "../paths.ts";
import { startVendor } from "../portal/acts.ts";
import { openStore } from "../portal/store.ts";
import { makeRelease, presentRelease } from "../release/release.ts";
import { remoteNames } from "../remotes.ts";
import { createChild, type Child, type ChildSettings } from "./child.ts";
import { Complaint } from "./complaint.ts";
import { createDatabaseChild } from "./database-child.ts";
import { takeLock } from "./lock.ts";
import { choosePorts } from "./ports.ts";
import { createRevival } from "./revival.ts";
import type { OtherVendor } from "./second-vendor.ts";
import { metricsToken, secretsOf, type DemoAccount } from "./secrets.ts";
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
  readonly second?: OtherVendor;
  /** Cloud drives of the deployment document, in place of the vendor's. */
  readonly drives?: NonNullable<DeploymentFacts["drives"]>;
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
    readonly running: (name: ProcessName) => boolean;
    /** Where it listens on 127.0.0.1, also while it does not run. */
    readonly port: (name: ProcessName) => number;
  };
  /** Signs the present releases anew, with a higher sequence. */
  readonly publish: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

type DatabaseName = "relicario" | "relicario_identity";

/** The vendor of a portal that is started here. */
export const vendorId = "relicario";
const renewEveryMs = 24 * 60 * 60_000;

/**
 * Builds what is not built, starts everything and waits until it is healthy.
 * @throws Complaint, with one line, for what the person can put right: a port in use, a second
 *   start on the same folder
 */
export async function startPortal({
  port,
  dataDir,
  log = () => undefined,
  environment = {},
  remoteFolders = [],
  second,
  drives,
  watch = [],
  signal,
}: PortalSettings): Promise<RunningPortal> {
  const given = readStartSettings({ ...process.env, PORT: String(port), DATA_DIR: dataDir });
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = takeLock(join(dataDir, "running.lock"));
  if ("heldBy" in lock)
    throw new Complaint(
      `The portal is already running on ${dataDir} (process ${String(lock.heldBy.pid)}). Stop it first, or use another folder with DATA_DIR.`,
    );

  /** How to undo what was started, the last first. */
  const undo: (() => Promise<void> | void)[] = [lock.release];
  let stopped: Promise<void> | null = null;
  const parts: Child[] = [];
  const named = (name: ProcessName): Child => {
    const found = parts.find((each) => each.name === name);
    if (found === undefined) throw new TypeError(`${name} is not run here`);
    return found;
  };
  const revival = createRevival({ log, start: (name) => named(name).start() });
  const onDeath = (name: ProcessName, how: string): void => void revival.ended(name, how);
  const stop = (): Promise<void> => {
    revival.stop();
    return (stopped ??= undoAll(undo));
  };
  try {
    const ports = await choosePorts(port, second === undefined ? 2 : 3);
    await untilStopped(ensureBuilt(log), signal); // builds end with this process

    const origin = `http://localhost:${String(ports.gateway)}`;
    const authority = given.authority ?? `http://localhost:${String(ports.identity)}/realms/relicario`;
    const secondOrigin = second === undefined ? null : `http://localhost:${String(ports.second)}`;
    const origins = secondOrigin === null ? [origin] : [origin, secondOrigin];
    // A remote in development has an origin of its own beside this portal (develop-remote.ts), in
    // production none.
    const known =
      given.environment === "production" ? origins : [...origins, `http://localhost:${String(ports.development)}`];
    const apiBase = `${origin}/api`;
    const secrets = await secretsOf(join(dataDir, "keys"));
    const operatorToken = process.env["METRICS_TOKEN"] ?? (await metricsToken(join(dataDir, "keys")));
    const store = await openStore({
      keys: join(dataDir, "keys"),
      deployments: join(dataDir, "deployments"),
      registry: join(dataDir, "releases"),
    });
    const databases = given.databaseUrls ?? (await embeddedDatabases());
    signal?.throwIfAborted();

    const child = (
      settings: Omit<ChildSettings, "logFile" | "onDeath" | "name" | "watch"> & { readonly name: ProcessName },
    ): Child =>
      createChild({
        ...settings,
        environment: (ownPort) => ({
          ...settings.environment(ownPort),
          ...Object.entries(environment).find(([name]) => name === settings.name)?.[1],
        }),
        watch: watch.includes(settings.name),
        logFile: join(dataDir, "logs", `${settings.name}.log`),
        onDeath,
      });
    const identity = child({
      name: "identity",
      script: "api/src/identity/main.ts",
      port: ports.identity,
      environment: (ownPort) => ({
        IDENTITY_PORT: String(ownPort),
        IDENTITY_HOST: "localhost",
        IDENTITY_ISSUER: authority,
        IDENTITY_DATABASE_URL: databases.identity ?? "",
        IDENTITY_CLIENTS: JSON.stringify([
          {
            client_id: given.clientId,
            redirect_uris: known.flatMap((each) => [`${each}/`, `${each}/silent-renew.html`]),
            post_logout_redirect_uris: known.map((each) => `${each}/`),
            origins: known,
          },
        ]),
        ...secrets.identity,
        IDENTITY_ADMIN_TOKEN: secrets.identityAdminToken,
        DEMO_ACCOUNT: JSON.stringify(secrets.demo),
      }),
    });
    const service = child({
      name: "service",
      script: "api/src/main.ts",
      environment: (ownPort) => ({
        OBJECTS_URL: process.env["OBJECTS_URL"] ?? join(dataDir, "objects"),
        MAIL_URL: process.env["MAIL_URL"] ?? join(dataDir, "outbox"),
        STOP_WAIT_SECONDS: "0", // nobody balances
        STOP_DRAIN_SECONDS: "8",
        API_HOST: "127.0.0.1",
        API_PORT: String(ownPort),
        DATABASE_URL: databases.service,
        IDP_AUTHORITY: authority,
        IDP_CLIENT_ID: given.clientId,
        ...(given.authority === null && {
          IDP_ADMIN: JSON.stringify({ kind: "embedded", url: authority, token: secrets.identityAdminToken }),
        }),
        PUBLIC_ORIGIN: origin,
        API_BASE_URL: apiBase,
        TRUSTED_PROXIES: "loopback", // the gateway; whom that one trusts is the operator's to say
        ...(second !== undefined &&
          process.env["VENDORS"] === undefined && {
            VENDORS: JSON.stringify([
              { vendor_id: vendorId, name: "Relicario" },
              { vendor_id: second.id, name: second.name, origin: secondOrigin },
            ]),
          }),
        ENVIRONMENT: given.environment,
        APP_VERSION: appVersion(),
        DEPLOYMENTS_FOLDER: store.deployments,
        METRICS_TOKEN: operatorToken,
        ...secrets.service,
      }),
    });
    const sites: Site[] = [
      {
        gateway: "gateway",
        vendor: vendorId,
        origin,
        port: ports.gateway,
        served: servedRemotes([...given.remoteFolders, ...remoteFolders]),
        ...(drives !== undefined && { drives }),
      },
    ];
    if (second !== undefined && secondOrigin !== null) {
      sites.push({
        gateway: `gateway-${second.id}`,
        vendor: second.id,
        origin: secondOrigin,
        port: ports.second,
        served: servedRemotes(second.remoteFolders, `${second.id}-`),
      });
    }
    const names = new Set(sites.flatMap(({ served }) => served.map(({ name }) => name)));
    const remotes = createStaticChildren(new Map([...names].map((name) => [name, join(store.registry, name)])), {
      logFile: join(dataDir, "logs", "remotes.log"),
      onDeath,
    });
    const portals = await Promise.all(
      sites.map(async (site) => {
        const { vendor, served } = site;
        const page: PortalPage = {
          vendor_id: vendor,
          portal_keys: [store.key.publicKey],
          team_keys: await teamKeys(served),
        };
        const gateway = child({
          name: site.gateway,
          script: "tooling/src/serve/gateway-main.ts",
          port: site.port,
          environment: (ownPort) => ({
            GATEWAY_HOST: "localhost",
            GATEWAY_PORT: String(ownPort),
            PUBLIC_ORIGIN: site.origin,
            HOST_FOLDER: join(rootFolder, "host/dist"),
            DEPLOYMENTS_FOLDER: store.deployments,
            PORTAL_PAGE: JSON.stringify(page),
            IDP_AUTHORITY: authority,
            API_BASE_URL: `${site.origin}/api`,
            UPSTREAMS: JSON.stringify({
              api: upstream(service),
              ...Object.fromEntries(
                remotes.each
                  .filter(({ name }) => served.some((each) => each.name === name))
                  .map((remote) => [remote.name, upstream(remote)]),
              ),
            }),
          }),
        });
        return { ...site, page, gateway };
      }),
    );

    const publish = async (): Promise<void> => {
      for (const { vendor, origin: own, page, served, drives: ownDrives } of portals) {
        const releases = await Promise.all(served.map(releaseOf));
        const facts = {
          vendorId: vendor,
          origin: own,
          environment: given.environment,
          appVersion: appVersion(),
          releases,
        };
        const api = { base_url: `${own}/api`, credentials: false, ...(own !== origin && { issuer: apiBase }) };
        const settings = {
          identity: { authority, client_id: given.clientId, scope: "openid profile email" },
          api,
          ...(ownDrives !== undefined && { drives: ownDrives }),
        };
        await startVendor(store, {
          deployment: makeDeployment({ ...facts, ...settings }, 1, new Date()),
          page,
          releases,
        });
      }
    };

    const gateways = portals.map(({ gateway }) => gateway);
    const all = [...(given.authority === null ? [identity] : []), service, remotes.process, ...gateways];
    parts.push(...all, ...remotes.each);
    undo.push(async () => {
      await Promise.all(gateways.map((each) => each.stop()));
      await Promise.all(all.map((each) => each.stop()));
    });
    await publish(); // the static servers serve what it puts into the registry
    // Everything but the gateways at once: they need to know where the others are.
    await settleAll([...all.filter((each) => !gateways.includes(each)).map((each) => each.start())]);
    signal?.throwIfAborted();
    await settleAll(gateways.map((each) => each.start()));
    await becomesHealthy([
      `${authority.replace(/\/$/, "")}/.well-known/openid-configuration`,
      ...portals.flatMap((each) => [
        `${each.origin}/healthz`,
        `${each.origin}/api/readyz`,
        ...each.served.map(({ name }) => `${each.origin}/r/${name}/healthz`),
      ]),
    ]);
    signal?.throwIfAborted();

    // A document lives for a week; a portal that runs for longer signs again long before.
    const renewal = setInterval(() => {
      publish().catch((error: unknown) =>
        log(`The deployment document could not be renewed: ${error instanceof Error ? error.message : "unknown"}`),
      );
    }, renewEveryMs);
    renewal.unref();
    undo.push(() => clearInterval(renewal));

    return {
      origin,
      secondOrigin,
      identityOrigin: new URL(authority).origin,
      dataDir,
      demo: secrets.demo,
      databaseUrl: (name) => (name === "relicario" ? databases.service : (databases.identity ?? "")),
      processes: {
        names: parts.map((each) => each.name),
        stop: (name) => named(name).stop(),
        kill: (name) => named(name).kill(),
        start: (name) => named(name).start(),
        running: (name) => named(name).running(),
        port: (name) => named(name).port(),
      },
      publish,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }

  async function embeddedDatabases(): Promise<{ readonly service: string; readonly identity: string }> {
    const database = createDatabaseChild({ folder: join(dataDir, "database"), onDeath });
    parts.push(database);
    undo.push(() => database.stop());
    await database.start();
    await database.createDatabase("relicario");
    await database.createDatabase("relicario_identity");
    return { service: database.url("relicario"), identity: database.url("relicario_identity") };
  }
}

/** The work's own end, or the signal's reason as soon as it is given. */
async function untilStopped(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const stopped = new Promise<void>((resolve) => {
    signal?.addEventListener("abort", () => resolve(), { once: true });
  });
  await Promise.race([work, stopped]);
  signal?.throwIfAborted();
}

/** What one vendor's portal is. */
interface Site {
  /** Name of its gateway's process. */
  readonly gateway: ProcessName;
  readonly vendor: string;
  readonly origin: string;
  readonly port: number;
  readonly served: readonly ServedRemote[];
  readonly drives?: NonNullable<DeploymentFacts["drives"]>;
}

/** A remote whose releases are served here. */
interface ServedRemote {
  readonly name: RemoteName;
  /** Whose development key signs its releases. */
  readonly team: string;
  /** Of its package; releases lie in `dist`. */
  readonly folder: string;
  readonly foreign: boolean;
}

/**
 * The remotes of this repository, and others; one of the same name takes the place of ours. `teams`
 * stands before the names of the others' teams.
 */
function servedRemotes(foreignFolders: readonly string[], teams = ""): readonly ServedRemote[] {
  const served = new Map<RemoteName, ServedRemote>(
    remoteNames.map((name) => [name, { name, team: name, folder: join(rootFolder, `remote-${name}`), foreign: false }]),
  );
  for (const folder of foreignFolders) {
    if (!existsSync(join(folder, "build/web")))
      throw new Complaint(`${folder} is not a remote that is built: it has no build/web.`);
    const { name } = RemoteManifest.parse(JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")));
    served.set(name, { name, team: `${teams}${name}`, folder, foreign: true });
  }
  return [...served.values()];
}

/**
 * What was built last; of a remote from elsewhere the release is made here, signed with a
 * development key.
 */
async function releaseOf({ name, team, folder, foreign }: ServedRemote) {
  const key = await teamKey(team);
  const release = foreign
    ? await makeRelease({ remote: name, packageFolder: folder, webFolder: join(folder, "build/web"), key })
    : await presentRelease(folder, key);
  if (release === null) throw new Complaint(`remote-${name} is not built.`);
  return release;
}

async function teamKeys(served: readonly ServedRemote[]): Promise<PortalPage["team_keys"]> {
  return Object.fromEntries(
    await Promise.all(
      served.map(
        async ({ name, team }) =>
          [name, [(await teamKey(team)).publicKey]] satisfies [RemoteName, PortalPage["team_keys"][string]],
      ),
    ),
  );
}

function appVersion(): string {
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(rootFolder, "package.json"), "utf8")))
    .version;
}

function upstream(child: Child): string {
  return `http://127.0.0.1:${String(child.port())}`;
}

/** Waits for all, also when one fails: what still starts could not be stopped otherwise. */
async function settleAll(tasks: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(tasks)).find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

async function becomesHealthy(addresses: readonly string[]): Promise<void> {
  const deadline = Date.now() + 30_000;
  await settleAll(
    addresses.map(async (address) => {
      for (;;) {
        const status = await fetch(address).then(
          ({ status }) => String(status),
          () => "no answer",
        );
        if (status === "200") return;
        if (Date.now() > deadline) throw new Complaint(`${address} is not healthy: ${status}.`);
        await pause(100);
      }
    }),
  );
}

/** The last first; one that fails does not keep the others from being undone. */
async function undoAll(undo: (() => Promise<void> | void)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of undo.reverse()) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
