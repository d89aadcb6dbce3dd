import type { EngineModules, LazyCodec } from "./engine-core.ts";

export type { LazyCodec };

/** Files of the release that hold the engine's WASM. */
type ModuleAsset = "engine-simd" | "engine-scalar" | "jpeg" | "png" | LazyCodec;
type FetchAsset = (name: ModuleAsset) => Promise<Response>;

/**
 * Compiles on the page what the engine's worker needs: there, nothing has an address to be fetched
 * from.
 */
export async function compileModules(fetchAsset: FetchAsset): Promise<EngineModules> {
  const compile = (name: ModuleAsset) => compileModule(name, fetchAsset);
  const [engine, jpeg, png] = await Promise.all([
    compile(hasSimd() ? "engine-simd" : "engine-scalar"),
    compile("jpeg"),
    compile("png"),
  ]);
  return { engine, jpeg, png };
}

/** One of them, or the codec of a picture that is neither JPEG nor PNG. */
export async function compileModule(name: ModuleAsset, fetchAsset: FetchAsset): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await (await fetchAsset(name)).arrayBuffer());
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
