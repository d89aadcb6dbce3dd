/** Loads the engine in Node, for tests and the command line, with modules read from disk. */
import { execFile } from "node:child_process";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Engine } from "./engine.ts";
import { createEngineCore, type EngineModules, type LazyCodec } from "./engine-core.ts";

const packageFolder = fileURLToPath(new URL("..", import.meta.url));

export type EngineVariant = "simd" | "scalar";

const engines = new Map<EngineVariant, Promise<Engine>>();

/** Loads each variant once. Drops a failed load, so that the next call tries again. */
export function loadEngineInNode(variant: EngineVariant = "simd"): Promise<Engine> {
  const pending = engines.get(variant);
  if (pending !== undefined) return pending;
  const loading = loadModulesInNode(variant).then((modules) =>
    createEngineCore(modules, { loadCodec: loadCodecInNode }),
  );
  engines.set(variant, loading);
  loading.catch(() => engines.delete(variant));
  return loading;
}

/**
 * Compiled modules of the engine and of its codecs. Builds the engine first if its sources have
 * changed.
 */
export async function loadModulesInNode(variant: EngineVariant = "simd"): Promise<EngineModules> {
  // The build runs in another process: the compiler is an ES module with top-level await, which a
  // CommonJS test runner cannot load.
  if (!(await isBuilt(variant))) await promisify(execFile)(process.execPath, [join(packageFolder, "build.ts")]);
  const [engine, jpeg, png] = await Promise.all([
    compileFile(`build/engine.${variant}.wasm`),
    compileFile("node_modules/@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm"),
    compileFile("node_modules/@jsquash/png/codec/pkg/squoosh_png_bg.wasm"),
  ]);
  return { engine, jpeg, png };
}

async function isBuilt(variant: EngineVariant): Promise<boolean> {
  const sources = await readdir(join(packageFolder, "assembly"));
  const [builtAt = NaN, ...sourceTimes] = await Promise.all(
    [`build/engine.${variant}.wasm`, "build.ts", ...sources.map((name) => `assembly/${name}`)].map((path) =>
      modificationTime(join(packageFolder, path)),
    ),
  );
  return sourceTimes.every((time) => time <= builtAt);
}

/** Time of a file's last change in milliseconds; NaN without the file. */
async function modificationTime(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    return NaN; // not built yet
  }
}

const lazyCodecPaths: Readonly<Record<LazyCodec, string>> = {
  webp: "node_modules/@jsquash/webp/codec/dec/webp_dec.wasm",
  avif: "node_modules/@jsquash/avif/codec/dec/avif_dec.wasm",
  heic: "node_modules/libheif-js/libheif-wasm/libheif.wasm",
};

export function loadCodecInNode(name: LazyCodec): Promise<WebAssembly.Module> {
  return compileFile(lazyCodecPaths[name]);
}

async function compileFile(path: string): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await readFile(join(packageFolder, path)));
}
