import * as Comlink from "comlink";
import type { Engine } from "./engine.ts";
import { createEngineCore, type EngineModules, type LazyCodec } from "./engine-core.ts";
import type { SearchDelegate } from "./second-core.ts";
import { serveCalls } from "./worker-calls.ts";

/** A function, or Comlink's proxy of one. */
export type CodecLoader = (name: LazyCodec) => Promise<WebAssembly.Module>;

/**
 * What the engine's worker offers: the engine itself, and how it is started.
 * `createCallClient<EngineWorkerApi>(workerOrPort)` is an Engine again. The bytes of a picture are
 * copied unless the caller transfers them; what arrives here is overwritten with 0 after the call,
 * and image secrets are moved to the caller. Calls made before `init` wait for it.
 */
export interface EngineWorkerApi extends Engine {
  /** Answers when the worker runs. */
  readonly ping: () => void;
  /**
   * Hands over the compiled modules, once, before any other call is answered. `loadCodec`, a
   * proxied function, fetches and compiles the codec of a picture that is neither JPEG nor PNG.
   */
  readonly init: (modules: EngineModules, loadCodec?: CodecLoader) => void;
  /** Serves the same engine on a port: for another worker. */
  readonly connect: (port: MessagePort) => void;
}

/** @param startDelegate starts a helper for searches on another core, when there is one. */
export function createEngineWorkerApi(
  startDelegate: (engine: WebAssembly.Module) => SearchDelegate | null = () => null,
): EngineWorkerApi {
  let resolveEngine: (engine: Engine) => void = () => undefined;
  const engine = new Promise<Engine>((resolve) => {
    resolveEngine = resolve;
  });
  const api: EngineWorkerApi = {
    ping: () => undefined,
    init: (modules, loadCodec) => {
      resolveEngine(createEngineCore(modules, { loadCodec, helper: startDelegate(modules.engine) }));
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

/** The bytes of a picture that crossed to this worker belong to it. */
async function wipePictureAfter<T>(picture: Uint8Array, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } finally {
    picture.fill(0);
  }
}

/** A clone would leave an image secret behind in this worker. */
function transferSecrets<T extends object>(result: T, ...secrets: readonly (Uint8Array | null | undefined)[]): T {
  return Comlink.transfer(
    result,
    secrets.flatMap((secret) => (secret == null ? [] : [secret.buffer])),
  );
}
