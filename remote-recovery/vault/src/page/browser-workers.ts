import { compileModules, serveCodecs, type LazyCodec } from "@relicario/engine/modules";
import type { EngineWorkerApi } from "@relicario/engine/worker-api";
import { PortalError } from "@relicario/shared/errors";
import type * as Comlink from "comlink";

import type { Bytes } from "../seal/bytes.ts";
import type { ImportWorkerApi } from "../imports/import-worker-api.ts";
import type { TransferWorkerApi } from "../transfer/transfer-worker-api.ts";
import { raceFailure, startWorker, type RunningWorker } from "../rpc/start-worker.ts";
import type { StrengthWorkerApi } from "../worker/strength-worker-api.ts";
import type { VaultWorkerApi } from "../worker/vault-worker-api.ts";
import type { VisitorWorkerApi } from "../worker/visitor-worker-api.ts";

export interface WorkerStarter {
  readonly vault: () => Promise<RunningWorker<VaultWorkerApi>>;
  /** For a page opened by a link, without an account. */
  readonly visitor: () => Promise<RunningWorker<VisitorWorkerApi>>;
  /** Resolves after the worker has received its WASM. */
  readonly engine: () => Promise<RunningWorker<EngineWorkerApi>>;
  /** Starts one worker of a pair, see {@link TransferWorkerApi}. */
  readonly transfer: () => Promise<RunningWorker<TransferWorkerApi>>;
  /**
   * Starts a worker for a single use: reading imported files, or opening one content of an archive.
   */
  readonly importReader: () => Promise<RunningWorker<ImportWorkerApi>>;
  /** Starts a worker for one estimate. */
  readonly strength: () => Promise<RunningWorker<StrengthWorkerApi>>;
  /** Fetches a file of the release for inclusion in kits. */
  readonly kitFile: (name: "kit" | "avif" | "heic") => Promise<Bytes>;
}

type AssetName =
  | "vault-worker"
  | "visitor-worker"
  | "engine-worker"
  | "transfer-worker"
  | "import-worker"
  | "strength-worker"
  | "engine-simd"
  | "engine-scalar"
  | "jpeg"
  | "png"
  | "kit"
  | LazyCodec;

/** Path in the release and SHA-384 of each asset; defined by the build. */
declare const __ASSETS__: Readonly<Partial<Record<AssetName, { readonly file: string; readonly integrity: string }>>>;
declare const __webpack_public_path__: string;

/**
 * Starts workers of the vault's frame by their files, whose responses carry the policy of its
 * origin. Each file is first fetched with integrity; the browser then uses its cached copy. WASM is
 * also fetched with integrity, and passed to the workers as compiled modules.
 */
export const browserWorkers: WorkerStarter = {
  vault: () => startAsset<VaultWorkerApi>("vault-worker", (remote) => remote.ping()),
  visitor: () => startAsset<VisitorWorkerApi>("visitor-worker", (remote) => remote.ping()),
  engine: async () => {
    const [worker, modules] = await Promise.all([
      startAsset<EngineWorkerApi>("engine-worker", (remote) => remote.ping()),
      compileModules(fetchAsset),
    ]);
    const codecPort = serveCodecs((name) => name in __ASSETS__, fetchAsset); // codecs are fetched on first use
    await raceFailure(worker.failure, worker.remote.init(modules, codecPort));
    return worker;
  },
  transfer: () => startAsset<TransferWorkerApi>("transfer-worker", (remote) => remote.ping()),
  importReader: () => startAsset<ImportWorkerApi>("import-worker", (remote) => remote.ping()),
  strength: () => startAsset<StrengthWorkerApi>("strength-worker", (remote) => remote.ping()),
  kitFile: async (name) => new Uint8Array(await (await fetchAsset(name)).arrayBuffer()),
};

async function startAsset<T>(
  name: AssetName,
  ping: (remote: Comlink.Remote<T>) => Promise<void>,
): Promise<RunningWorker<T>> {
  const { url } = await fetchAsset(name);
  return startWorker(new Worker(url, { name }), ping);
}

/**
 * Assets that failed. The browser may have cached wrong bytes as immutable, so these bypass its
 * cache.
 */
const failedAssets = new Set<AssetName>();

/**
 * @throws PortalError `vault_unavailable` if the file does not load or fails its integrity check
 */
async function fetchAsset(name: AssetName): Promise<Response> {
  try {
    const asset = __ASSETS__[name];
    if (asset === undefined) throw new TypeError(`this release has no asset ${name}`);
    const address = new URL(asset.file, new URL(__webpack_public_path__, globalThis.location.href));
    const response = await fetch(address, {
      integrity: asset.integrity,
      credentials: "omit",
      ...(failedAssets.has(name) && { cache: "reload" }),
    });
    if (!response.ok) throw new TypeError(`status ${String(response.status)} while loading ${name}`);
    return response;
  } catch (cause) {
    failedAssets.add(name);
    throw new PortalError("vault_unavailable", { cause });
  }
}
