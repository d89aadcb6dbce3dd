import type { Engine } from "./engine.ts";
import { createEngineCore, type EngineModules, type LazyCodec } from "./engine-core.ts";
import type { SearchHelper } from "./second-core.ts";
import { serveCalls } from "./worker-calls.ts";

/** A function, or Comlink's proxy of one. */
export type CodecLoader = (name: LazyCodec) => Promise<WebAssembly.Module>;

/**
 * What the engine's worker offers: the engine itself, and how it is started. `callsTo<EngineWorkerApi>(workerOrPort)` is an
 * Engine again. The bytes of a picture are copied, not taken. Calls made before `init` wait for it.
 */
export interface EngineWorkerApi extends Engine {
  /** Answers when the worker runs. */
  readonly ping: () => void;
  /**
   * Hands over the compiled modules, once, before any other call is answered. `load`, a proxied function, fetches and
   * compiles the codec of a picture that is neither JPEG nor PNG.
   */
  readonly init: (modules: EngineModules, load?: CodecLoader) => void;
  /** Serves the same engine on a port: for another worker. */
  readonly connect: (port: MessagePort) => void;
}

/** @param second starts a helper for searches on another core, when there is one. */
export function createEngineWorkerApi(second: (engine: WebAssembly.Module) => SearchHelper | null = () => null): EngineWorkerApi {
  let supply: (engine: Engine) => void = () => undefined;
  const engine = new Promise<Engine>((resolve) => {
    supply = resolve;
  });
  const api: EngineWorkerApi = {
    ping: () => undefined,
    init: (modules, load) => {
      supply(createEngineCore(modules, { load, helper: second(modules.engine) }));
    },
    connect: (port) => {
      serveCalls(api, port);
    },
    inspect: async (...given) => (await engine).inspect(...given),
    enrol: async (...given) => (await engine).enrol(...given),
    recover: async (...given) => (await engine).recover(...given),
  };
  return api;
}
