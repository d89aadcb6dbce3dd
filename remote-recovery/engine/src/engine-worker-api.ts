import * as Comlink from "comlink";
import { PortalError } from "@relicario/shared/errors";
import type { Engine, EngineOptions, EngineProgress, EnrolResult, GateReport, RecoverResult, SearchHint, Sketch } from "./engine.ts";
import { createEngineCore, type EngineModules, type LazyCodec } from "./engine-core.ts";
import type { SearchHelper } from "./second-core.ts";

/** Names a call, so that it can be cancelled: any string that its caller does not use twice. */
export type CallId = string;
/** A function, or Comlink's proxy of one, which has to be released. */
export type ProgressListener = ((progress: EngineProgress) => unknown) & { readonly [Comlink.releaseProxy]?: () => void };

/** A function, or Comlink's proxy of one. */
export type CodecLoader = (name: LazyCodec) => Promise<WebAssembly.Module>;

/**
 * What a worker offers over Comlink. Signals and functions do not cross, so a call carries an id and a proxied listener;
 * use createEngineClient instead of calling this.
 */
export interface EngineWorkerApi {
  /**
   * Hands over the compiled modules, once, before any other call is answered. `load`, a proxied function, fetches and
   * compiles the codec of a picture that is neither JPEG nor PNG.
   */
  readonly init: (modules: EngineModules, load?: CodecLoader) => void;
  /** Serves the same engine on a port: for another worker. */
  readonly connect: (port: MessagePort) => void;
  readonly inspect: (id: CallId, picture: Uint8Array, onProgress: ProgressListener | null) => Promise<GateReport>;
  readonly enrol: (id: CallId, picture: Uint8Array, known: readonly Sketch[], onProgress: ProgressListener | null) => Promise<EnrolResult>;
  readonly recover: (
    id: CallId,
    picture: Uint8Array,
    sketches: readonly Sketch[],
    onProgress: ProgressListener | null,
    hint?: SearchHint,
  ) => Promise<RecoverResult>;
  /** Ends a call with `cancelled`. Without effect when it is over, or unknown. */
  readonly cancel: (id: CallId) => void;
}

/**
 * The service over one engine; calls made before `init` wait for it.
 * @param second starts a helper for searches on another core, when there is one.
 */
export function createEngineWorkerApi(second: (engine: WebAssembly.Module) => SearchHelper | null = () => null): EngineWorkerApi {
  const running = new Map<CallId, AbortController>();
  let supply: (engine: Engine) => void = () => undefined;
  const engine = new Promise<Engine>((resolve) => {
    supply = resolve;
  });

  const call = async <T>(id: CallId, onProgress: ProgressListener | null, work: (engine: Engine, options: EngineOptions) => Promise<T>): Promise<T> => {
    if (running.has(id)) throw new PortalError("conflict");
    const controller = new AbortController();
    running.set(id, controller);
    try {
      return await work(await engine, {
        signal: controller.signal,
        ...(onProgress === null ? {} : { onProgress: (progress) => void tell(onProgress, progress) }),
      });
    } finally {
      running.delete(id);
      onProgress?.[Comlink.releaseProxy]?.();
    }
  };

  const service: EngineWorkerApi = {
    init: (modules, load) => {
      supply(createEngineCore(modules, { load, helper: second(modules.engine) }));
    },
    connect: (port) => {
      Comlink.expose(service, port);
    },
    inspect: (id, picture, onProgress) => call(id, onProgress, (core, options) => core.inspect(picture, options)),
    enrol: (id, picture, known, onProgress) => call(id, onProgress, (core, options) => core.enrol(picture, known, options)),
    recover: (id, picture, sketches, onProgress, hint) =>
      call(id, onProgress, (core, options) => core.recover(picture, sketches, hint === undefined ? options : { ...options, hint })),
    cancel: (id) => {
      running.get(id)?.abort();
    },
  };
  return service;
}

/** A listener that throws, or whose page is gone, costs its progress bar; the call itself goes on. */
async function tell(onProgress: ProgressListener, progress: EngineProgress): Promise<void> {
  try {
    await onProgress(progress);
  } catch {
    // said above
  }
}
