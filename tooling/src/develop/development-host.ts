import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

import { computeFingerprint } from "../bundle/fingerprint.ts";
import { assembleHost } from "../bundle/host-files.ts";
import { loadConfigs, runWebpack } from "../bundle/run-webpack.ts";
import { rootFolder } from "../paths.ts";

const builtFolder = join(rootFolder, "host/build/web");
const folder = join(rootFolder, "host/build/development");

/**
 * Installs the hook of React's developer tools, where React registers its renderers. Through it,
 * Fast Refresh of a remote, which loads later, finds the host's renderer.
 * https://github.com/facebook/react/blob/main/packages/react-refresh/src/ReactFreshRuntime.js
 */
const devToolsHookScript = `if (!("__REACT_DEVTOOLS_GLOBAL_HOOK__" in window)) {
  const renderers = new Map();
  window.__REACT_DEVTOOLS_GLOBAL_HOOK__ = {
    renderers,
    supportsFiber: true,
    inject: (renderer) => { renderers.set(renderers.size, renderer); return renderers.size - 1; },
    onScheduleFiberRoot() {}, onCommitFiberRoot() {}, onCommitFiberUnmount() {},
  };
}`;

/** Builds the host in development mode when its sources changed. Returns its folder. */
export async function buildDevelopmentHost(log: (line: string) => void): Promise<string> {
  const dist = join(folder, "dist");
  const stampFile = join(folder, "stamp");
  const stamp = computeFingerprint("host");
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return dist;
  log("Building the host in development mode.");
  rmSync(folder, { recursive: true, force: true });
  const web = join(folder, "web");
  await runWebpack(
    (await loadConfigs("host", { mode: "development" })).map((config) => ({
      ...config,
      output: { ...config.output, path: join(web, relative(builtFolder, config.output?.path ?? builtFolder)) },
    })),
  );
  await assembleHost(web, dist);
  const page = join(dist, "index.html");
  writeFileSync(
    page,
    readFileSync(page, "utf8").replace("<head>", `<head><script nonce="{{nonce}}">${devToolsHookScript}</script>`),
  );
  writeFileSync(stampFile, stamp);
  return dist;
}
