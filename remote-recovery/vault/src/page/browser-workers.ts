import { compileModule, compileModules, type LazyCodec } from "@relicario/engine/modules";
import type { EngineWorkerApi } from "@relicario/engine/worker-api";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import type { Bytes } from "../seal/bytes.ts";
import type { ImportWorkerApi } from "../imports/import-worker-api.ts";
import type { TransferWorkerApi } from "../transfer/transfer-worker-api.ts";
import { raceFailure, startWorker, type RunningWorker } from "../rpc/start-worker.ts";
import type { VaultWorkerApi } from "../worker/vault-worker-api.ts";
import type { VisitorWorkerApi } from "../worker/visitor-worker-api.ts";

/** Starts the workers; tests replace it. */
export interface WorkerStarter {
  readonly vault: () => Promise<RunningWorker<VaultWorkerApi>>;
  /** For a page opened by a link: it knows no account. */
  readonly visitor: () => Promise<RunningWorker<VisitorWorkerApi>>;
  /** With its WASM already handed over. */
  readonly engine: () => Promise<RunningWorker<EngineWorkerApi>>;
  /** One of the two that large contents take. */
  readonly transfer: () => Promise<RunningWorker<TransferWorkerApi>>;
  /** Reads files that are imported, or opens a content of one, once. */
  readonly importReader: () => Promise<RunningWorker<ImportWorkerApi>>;
  /** A file of the release that goes into kits, and runs nowhere here. */
  readonly kitFile: (name: "kit" | "avif" | "heic") => Promise<Bytes>;
}

type AssetName =
  | "vault-worker"
  | "visitor-worker"
  | "engine-worker"
  | "transfer-worker"
  | "import-worker"
  | "engine-simd"
  | "engine-scalar"
  | "jpeg"
  | "png"
  | "kit"
  | LazyCodec;

/** Put in by the build: file inside the release, and sha384. */
declare const __ASSETS__: Readonly<Partial<Record<AssetName, { readonly file: string; readonly integrity: string }>>>;
declare const __webpack_public_path__: string;

/**
 * Workers from verified files: fetched with their integrity, started from a blob address. There
 * nothing has a base address, so the page fetches the WASM, with integrity too, and hands the
 * compiled modules over.
 */
export const browserWorkers: WorkerStarter = {
  vault: () => startAsset<VaultWorkerApi>("vault-worker", (remote) => remote.ping()),
  visitor: () => startAsset<VisitorWorkerApi>("visitor-worker", (remote) => remote.ping()),
  engine: async () => {
    const [worker, modules] = await Promise.all([
      startAsset<EngineWorkerApi>("engine-worker", (remote) => remote.ping()),
      compileModules(fetchAsset),
    ]);
    await raceFailure(worker.failure, worker.remote.init(modules, Comlink.proxy(loadCodec)));
    return worker;
  },
  transfer: () => startAsset<TransferWorkerApi>("transfer-worker", (remote) => remote.ping()),
  importReader: () => startAsset<ImportWorkerApi>("import-worker", (remote) => remote.ping()),
  kitFile: async (name) => new Uint8Array(await (await fetchAsset(name)).arrayBuffer()),
};

/** The codec of a picture that is neither JPEG nor PNG, fetched when one is shown. */
async function loadCodec(name: LazyCodec) {
  if (__ASSETS__[name] === undefined)
    throw new PortalError("picture_unreadable", { details: { reason: "unsupported", kind: name } });
  return compileModule(name, fetchAsset);
}

/** From a file of the release. */
async function startAsset<T>(
  name: AssetName,
  ping: (remote: Comlink.Remote<T>) => Promise<void>,
): Promise<RunningWorker<T>> {
  return startWorker(name, await (await fetchAsset(name)).text(), ping);
}

/** The browser may keep the wrong bytes of these as immutable: they are fetched past its cache. */
const failedAssets = new Set<AssetName>();

/**
 * @throws PortalError `vault_unavailable` when the file does not load, or is not the one of the
 *   release.
 */
async function fetchAsset(name: AssetName): Promise<Response> {
  try {
    const asset = __ASSETS__[name];
    if (asset === undefined) throw new TypeError(`${name} is not in this release`);
    const address = new URL(asset.file, new URL(__webpack_public_path__, globalThis.location.href));
    const response = await fetch(address, {
      integrity: asset.integrity,
      credentials: "omit",
      ...(failedAssets.has(name) && { cache: "reload" }),
    });
    if (!response.ok) throw new TypeError(`${String(response.status)} for ${name}`);
    return response;
  } catch (cause) {
    failedAssets.add(name);
    throw new PortalError("vault_unavailable", { cause });
  }
}
