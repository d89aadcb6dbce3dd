import type { EngineModules } from "./engine-core.ts";

/** Files of the release that hold the engine's WASM. */
type ModuleAsset = "engine-simd" | "engine-scalar" | "jpeg" | "png";

/** Compiles on the page what the engine's worker needs: there, nothing has an address to be fetched from. */
export async function compileModules(fetchAsset: (name: ModuleAsset) => Promise<Response>): Promise<EngineModules> {
  const compile = async (name: ModuleAsset) => WebAssembly.compile(await (await fetchAsset(name)).arrayBuffer());
  const [engine, jpeg, png] = await Promise.all([compile(hasSimd() ? "engine-simd" : "engine-scalar"), compile("jpeg"), compile("png")]);
  return { engine, jpeg, png };
}

/** Whether the browser runs WASM SIMD: it accepts a module that uses `i8x16.splat` and `i8x16.popcnt`. */
function hasSimd(): boolean {
  return WebAssembly.validate(
    Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11),
  );
}
