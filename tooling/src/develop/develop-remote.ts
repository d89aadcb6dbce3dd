/**
 * Serves one remote from its sources, with React Fast Refresh, next to a running portal that serves
 * everything else. One of the commands of
 * docs/decisions/0032-two-commands-start-and-test-everything.md
 */
import { readFileSync, rmSync, watch } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import ReactRefreshPlugin from "@pmmmwh/react-refresh-webpack-plugin";
import { RemoteName } from "@relicario/shared/contract";
import refreshTypeScript from "react-refresh-typescript";
import webpack, { type Configuration } from "webpack";
import webpackDevMiddleware from "webpack-dev-middleware";
import { z } from "zod";

import { loadConfigsFrom } from "../bundle/run-webpack.ts";
import { getErrorCode } from "../error-code.ts";
import { openStore, readVendor } from "../portal/store.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { buildDevelopmentHost } from "./development-host.ts";
import { buildDevelopmentServer } from "./development-server.ts";
import { createSourceRelease } from "./source-release.ts";

export interface DevelopmentSettings {
  /**
   * The remote's package: `manifest.json`, `package.json`, `webpack.config.ts` or `.mjs`, `src`.
   */
  readonly folder: string;
  readonly portal: { readonly origin: string; readonly vendorId: string; readonly dataDir: string };
  /** Port of `localhost`; the portal's identity provider must allow its origin. */
  readonly port: number;
  readonly log: (line: string) => void;
}

export interface RemoteDevelopment {
  readonly origin: string;
  readonly remote: RemoteName;
  readonly stop: () => Promise<void>;
}

/**
 * @throws UserFacingError when no portal runs, it is in production, the folder is no remote, or the
 * port is taken
 */
async function developRemote({ folder, portal, port, log }: DevelopmentSettings): Promise<RemoteDevelopment> {
  const remote = readRemoteName(folder);
  const isRunning = await fetch(`${portal.origin}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );
  if (!isRunning)
    throw new UserFacingError(`No portal runs at ${portal.origin}. Start it first, in another terminal: npm start`);
  const store = await openStore({
    keysFolder: join(portal.dataDir, "keys"),
    deploymentsFolder: join(portal.dataDir, "deployments"),
    registryFolder: join(portal.dataDir, "releases"),
  });
  const { deployment } = await readVendor(store, portal.vendorId);
  if (deployment.environment === "production")
    throw new UserFacingError(`The portal at ${portal.origin} is in production: it runs only promoted releases.`);

  const hostFolder = await buildDevelopmentHost(log);
  const webFolder = join(folder, "build/development");
  const release = createSourceRelease(remote, { folder, webFolder, store, vendorId: portal.vendorId });
  const origin = `http://localhost:${String(port)}`;
  const middleware = webpackDevMiddleware(webpack(await loadDevelopmentConfigs(folder, remote, webFolder)), {
    publicPath: `${release.path}/`,
    writeToDisk: true, // hashes are computed from files
    headers: { "cache-control": "no-store" },
    // CORS keeps other sites from following the builds. The page forbids styles without a nonce, so
    // there is no overlay: the terminal shows errors.
    hot: { cors: origin, client: { overlay: false } },
  });
  const waitForBuild = promisify((done: () => void) => {
    middleware.waitUntilValid(() => done());
  });
  const close = promisify((done: () => void) => {
    middleware.close(() => done());
  });
  const identityOrigin = new URL(deployment.identity.authority).origin;
  const app = await buildDevelopmentServer({
    origin,
    portalOrigin: portal.origin,
    vaultOrigin: deployment.vault_origin,
    identityOrigin,
    vendorId: portal.vendorId,
    hostFolder,
    localesFolder: join(folder, "src/locales"),
    release,
    serveFiles: middleware,
    waitForBuild,
  });
  try {
    await waitForBuild();
    await app.listen({ port, host: "localhost" });
  } catch (error) {
    await close();
    throw getErrorCode(error) === "EADDRINUSE"
      ? new UserFacingError(`Port ${String(port)}, the third after the portal's, is in use by another program.`)
      : error;
  }
  return {
    origin,
    remote,
    stop: async () => {
      await close();
      await app.close();
    },
  };
}

/** Adds Fast Refresh to the page; workers stay as they are. */
async function loadDevelopmentConfigs(folder: string, remote: RemoteName, webFolder: string): Promise<Configuration[]> {
  const configs = await loadConfigsFrom(folder, { mode: "development", refresh: refreshTypeScript() });
  // Workers replace the released ones, so the next start must rebuild.
  if (configs.length > 1) rmSync(join(folder, "build/stamp"), { force: true });
  return configs.map((config): Configuration => {
    if (config.name !== remote) return Object.assign({}, config, { devServer: false });
    return {
      ...config,
      output: { ...config.output, path: webFolder },
      plugins: [...(config.plugins ?? []), new ReactRefreshPlugin({ overlay: false })],
    };
  });
}

/**
 * Like `developRemote`, and starts anew when the remote's name or version changes, which the
 * release's address and webpack's settings contain. Says so in the log; waits while the folder is
 * not one of a remote.
 *
 * @returns its stop function
 * @throws UserFacingError as `developRemote`, at the first start only
 */
export async function developRemoteAndRestart(
  settings: DevelopmentSettings,
  onStart: (development: RemoteDevelopment) => void,
): Promise<() => Promise<void>> {
  const { folder, log } = settings;
  let identity = readIdentity(folder);
  let development: RemoteDevelopment | null = await developRemote(settings);
  onStart(development);
  let lastChange = Promise.resolve();

  const followIdentity = async (): Promise<void> => {
    try {
      const nextIdentity = readIdentity(folder);
      if (nextIdentity === identity && development !== null) return;
      log(`The remote is ${nextIdentity} now: it starts again.`);
      await development?.stop();
      development = null;
      development = await developRemote(settings);
      identity = nextIdentity;
      onStart(development);
    } catch (error) {
      if (!(error instanceof UserFacingError)) throw error;
      log(error.message);
    }
  };
  const watcher = watch(folder, (_event, file) => {
    if (file !== "manifest.json" && file !== "package.json") return;
    lastChange = lastChange.then(followIdentity);
    lastChange.catch((error: unknown) => {
      log(error instanceof Error ? error.message : String(error));
    });
  });
  return async () => {
    watcher.close();
    await lastChange;
    await development?.stop();
  };
}

function readRemoteName(folder: string): RemoteName {
  try {
    return z.object({ name: RemoteName }).parse(JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"))).name;
  } catch {
    throw new UserFacingError(`${folder} is not the folder of a remote: it has no manifest.json with a name.`);
  }
}

/** Returns name and version. */
function readIdentity(folder: string): string {
  const remote = readRemoteName(folder);
  try {
    const { version } = z
      .object({ version: z.string() })
      .parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
    return `${remote} ${version}`;
  } catch {
    throw new UserFacingError(`${folder} is not the folder of a remote: it has no package.json with a version.`);
  }
}
