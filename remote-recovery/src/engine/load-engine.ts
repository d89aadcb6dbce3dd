/** The engine under Node, for tests and the command line: the same core, modules read from the disk. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Engine } from "./engine.ts";
import { createEngineCore, type EngineModules } from "./engine-core.ts";

export type EngineVariant = "simd" | "scalar";

const loads = new Map<EngineVariant, Promise<Engine>>();

/** The engine, once for each variant. A failed load is forgotten, so that the next call tries again. */
export function loadEngineInNode(variant: EngineVariant = "simd"): Promise<Engine> {
  const known = loads.get(variant);
  if (known !== undefined) return known;
  const load = loadModulesInNode(variant).then((modules) => createEngineCore(modules));
  loads.set(variant, load);
  load.catch(() => loads.delete(variant));
  return load;
}

/** Compiled modules of the engine (built first, when its sources changed) and of the codecs. */
export async function loadModulesInNode(variant: EngineVariant = "simd"): Promise<EngineModules> {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  // A process of its own: the compiler is an ES module with top-level await, which a CommonJS test runner cannot load.
  await promisify(execFile)(process.execPath, [join(root, "engine/build.ts")]);
  const compile = async (file: string) => WebAssembly.compile(await readFile(join(root, file)));
  const [engine, jpeg, png] = await Promise.all([
    compile(`engine/build/engine.${variant}.wasm`),
    compile("node_modules/@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm"),
    compile("node_modules/@jsquash/png/codec/pkg/squoosh_png_bg.wasm"),
  ]);
  return { engine, jpeg, png };
}
