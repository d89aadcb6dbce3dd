/**
 * One remote from its sources in a host in development mode, everything else as a portal beside it
 * has it released. What is changed is replaced in the open page, whose state stays (React's
 * refresh). [docs/decisions/0109](../../../docs/decisions/0109-one-remote-in-development.md)
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

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
import { createSourceRelease } from "./release-from-source.ts";

export interface DevelopmentSettings {
  /**
   * The remote's package: `manifest.json`, `package.json`, `webpack.config.ts` or `.mjs`, `src`.
   */
  readonly folder: string;
  /** The portal that runs beside it, and where its data is. */
  readonly portal: { readonly origin: string; readonly vendor: string; readonly dataDir: string };
  /** Of `localhost`; the portal's identity provider has to know it. */
  readonly port: number;
  readonly log: (line: string) => void;
}

export interface RemoteDevelopment {
  readonly origin: string;
  readonly remote: RemoteName;
  readonly stop: () => Promise<void>;
}

/**
 * @throws UserFacingError for what the person can put right: no portal runs, it is in production,
 *   the folder has no remote, the port is taken
 */
export async function developRemote({ folder, portal, port, log }: DevelopmentSettings): Promise<RemoteDevelopment> {
  const remote = readRemoteName(folder);
  const isRunning = await fetch(`${portal.origin}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );
  if (!isRunning)
    throw new UserFacingError(`No portal runs at ${portal.origin}. Start it first, in another terminal: npm start`);
  const store = await openStore({
    keys: join(portal.dataDir, "keys"),
    deployments: join(portal.dataDir, "deployments"),
    registry: join(portal.dataDir, "releases"),
  });
  const { deployment } = await readVendor(store, portal.vendor);
  if (deployment.environment === "production")
    throw new UserFacingError(`The portal at ${portal.origin} is in production: it runs promoted releases alone.`);

  const hostFolder = await buildDevelopmentHost(log);
  const webFolder = join(folder, "build/development");
  const release = createSourceRelease(remote, { folder, webFolder, store, vendor: portal.vendor });
  const origin = `http://localhost:${String(port)}`;
  const middleware = webpackDevMiddleware(webpack(await loadDevelopmentConfigs(folder, remote, webFolder)), {
    publicPath: `${release.path}/`,
    writeToDisk: true, // where the hashes are taken from
    headers: { "cache-control": "no-store" },
    // No other site may follow what is built here. The page allows no styles without its nonce: the
    // terminal says what is wrong.
    hot: { cors: origin, client: { overlay: false } },
  });
  const waitForBuild = (): Promise<void> =>
    new Promise((resolve) => {
      middleware.waitUntilValid(() => {
        resolve();
      });
    });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      middleware.close(() => {
        resolve();
      });
    });
  const identityOrigin = new URL(deployment.identity.authority).origin;
  const app = await buildDevelopmentServer({
    origin,
    portalOrigin: portal.origin,
    identityOrigin,
    vendor: portal.vendor,
    hostFolder,
    localesFolder: join(folder, "src/locales"),
    release,
    files: middleware,
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

/** How webpack builds the remote here: its page with refresh, its workers as always. */
async function loadDevelopmentConfigs(folder: string, remote: RemoteName, webFolder: string): Promise<Configuration[]> {
  const configs = await loadConfigsFrom(folder, { mode: "development", refresh: refreshTypeScript() });
  // Workers lie where the next start would look for released ones: it has to build again.
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

function readRemoteName(folder: string): RemoteName {
  try {
    return z.object({ name: RemoteName }).parse(JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"))).name;
  } catch {
    throw new UserFacingError(`${folder} is no folder of a remote: it has no manifest.json with a name.`);
  }
}
