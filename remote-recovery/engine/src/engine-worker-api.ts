import * as Comlink from "comlink";
import type { Engine } from "./engine.ts";
import { createEngineCore, type EngineModules, type LazyCodec } from "./engine-core.ts";
import type { SearchDelegate } from "./search-delegate.ts";
import { createCallClient, serveCalls } from "./worker-calls.ts";

/** Served by the page that starts the worker. */
export interface CodecServer {
  /**
   * Bytes of a codec's WASM. Not a compiled module, which cannot cross a port of a page opened from
   * disk.
   */
  readonly loadCodec: (name: LazyCodec) => Promise<ArrayBuffer>;
}

/**
 * API of the engine's worker. `createCallClient<EngineWorkerApi>(workerOrPort)` returns an Engine.
 * The worker overwrites a received picture with 0 after the call, and transfers image secrets to
 * the caller. Calls made before `init` wait for it.
 */
export interface EngineWorkerApi extends Engine {
  /** Resolves when the worker runs. */
  readonly ping: () => void;
  /**
   * Passes the compiled modules; called once. The {@link CodecServer} at `codecPort` has the codecs
   * of pictures that are neither JPEG nor PNG; without it these are `unsupported`.
   */
  readonly init: (modules: EngineModules, codecPort?: MessagePort) => void;
  /** Serves the same engine to another worker on a port. */
  readonly connect: (port: MessagePort) => void;
}

/** @param startDelegate starts a search delegate on another core; null without one */
export function createEngineWorkerApi(
  startDelegate: (engine: WebAssembly.Module) => SearchDelegate | null = () => null,
): EngineWorkerApi {
  let resolveEngine: (engine: Engine) => void = () => undefined;
  const engine = new Promise<Engine>((resolve) => {
    resolveEngine = resolve;
  });
  const api: EngineWorkerApi = {
    ping: () => undefined,
    init: (modules, codecPort) => {
      const codecs = codecPort === undefined ? null : createCallClient<CodecServer>(codecPort);
      const loadCodec =
        codecs === null ? undefined : async (name: LazyCodec) => WebAssembly.compile(await codecs.loadCodec(name));
      resolveEngine(createEngineCore(modules, { loadCodec, delegate: startDelegate(modules.engine) }));
    },
    connect: (port) => {
      serveCalls(api, port);
    },
    inspect: (...args) => wipePictureAfter(args[0], async () => (await engine).inspect(...args)),
    enrol: (...args) =>
      wipePictureAfter(args[0], async () => {
        const result = await (await engine).enrol(...args);
        return transferSecrets(result, result.imageSecretBytes, result.knownPicture?.imageSecretBytes);
      }),
    recover: (...args) =>
      wipePictureAfter(args[0], async () => {
        const result = await (await engine).recover(...args);
        return result.outcome === "recovered" ? transferSecrets(result, result.imageSecretBytes) : result;
      }),
  };
  return api;
}

/** Overwrites the picture after the call, since its bytes belong to this worker. */
async function wipePictureAfter<T>(picture: Uint8Array, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } finally {
    picture.fill(0);
  }
}

/** Transfers image secrets, because cloning would leave a copy in this worker. */
function transferSecrets<T extends object>(result: T, ...secrets: readonly (Uint8Array | null | undefined)[]): T {
  return Comlink.transfer(
    result,
    secrets.flatMap((secret) => (secret == null ? [] : [secret.buffer])),
  );
}
