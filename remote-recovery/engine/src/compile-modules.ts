import * as Comlink from "comlink";

import type { EngineModules, LazyCodec } from "./engine-core.ts";
import type { CodecServer } from "./engine-worker-api.ts";
import { unreadableError } from "./decoders/picture-file.ts";
import { serveCalls } from "./worker-calls.ts";

export type { LazyCodec };

/** Files of the release that hold the engine's WASM. */
type ModuleAsset = "engine-simd" | "engine-scalar" | "jpeg" | "png" | LazyCodec;
type FetchAsset = (name: ModuleAsset) => Promise<Response>;

/**
 * Compiles the modules of the engine's worker on the page, because a worker from a blob has no URL
 * to fetch from.
 */
export async function compileModules(fetchAsset: FetchAsset): Promise<EngineModules> {
  const compile = async (name: ModuleAsset) => WebAssembly.compile(await (await fetchAsset(name)).arrayBuffer());
  const [engine, jpeg, png] = await Promise.all([
    compile(hasSimd() ? "engine-simd" : "engine-scalar"),
    compile("jpeg"),
    compile("png"),
  ]);
  return { engine, jpeg, png };
}

/**
 * Serves a release's codecs to the engine's worker on the returned port. A codec for which
 * `hasAsset` is false is rejected with `picture_unreadable`, reason `unsupported`.
 */
export function serveCodecs(hasAsset: (name: LazyCodec) => boolean, fetchAsset: FetchAsset): MessagePort {
  const { port1, port2 } = new MessageChannel();
  const server: CodecServer = {
    loadCodec: async (name) => {
      if (!hasAsset(name)) throw unreadableError("unsupported", name);
      const bytes = await (await fetchAsset(name)).arrayBuffer();
      return Comlink.transfer(bytes, [bytes]);
    },
  };
  serveCalls(server, port1);
  return Comlink.transfer(port2, [port2]);
}

/**
 * Whether the browser runs WASM SIMD: it accepts a module that uses `i8x16.splat` and
 * `i8x16.popcnt`.
 */
function hasSimd(): boolean {
  return WebAssembly.validate(
    Uint8Array.of(
      0,
      97,
      115,
      109,
      1,
      0,
      0,
      0,
      1,
      5,
      1,
      96,
      0,
      1,
      123,
      3,
      2,
      1,
      0,
      10,
      10,
      1,
      8,
      0,
      65,
      0,
      253,
      15,
      253,
      98,
      11,
    ),
  );
}
