import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { extname, join, parse } from "node:path";

import webpack, { type Compiler } from "webpack";

import { renderKitTemplate } from "./kit-template.ts";

const engineFolder = join(import.meta.dirname, "../engine");
export const workersFolder = join(import.meta.dirname, "../build/workers");
/** Scripts of the vault's origin; their entries have the same names in every release. */
export const controllerFolder = join(import.meta.dirname, "../build/controller");
export const elementFolder = join(import.meta.dirname, "../build/element");

interface Asset {
  readonly name: string;
  /** Path inside the release, with a content hash. */
  readonly file: string;
  readonly integrity: string;
  readonly bytes: Buffer;
}

/**
 * Emits workers and WASM as `assets/`, named by content hash, and gives their paths and integrity
 * to the page as `__ASSETS__`. The workers are built first (`dependencies` of the configuration).
 */
export class AssetsPlugin {
  apply(compiler: Compiler): void {
    createAssetsDefinition().apply(compiler);
    compiler.hooks.thisCompilation.tap(AssetsPlugin.name, (compilation) => {
      compilation.hooks.processAssets.tap(
        { name: AssetsPlugin.name, stage: webpack.Compilation.PROCESS_ASSETS_STAGE_ADDITIONAL },
        () => {
          // already minimised; the page contains the hash
          for (const { file, bytes } of readAssets())
            compilation.emitAsset(file, new webpack.sources.RawSource(bytes), { minimized: true, immutable: true });
          for (const folder of [controllerFolder, elementFolder])
            for (const file of readdirSync(folder).filter((name) => extname(name) === ".js")) {
              const source = new webpack.sources.RawSource(readFileSync(join(folder, file)));
              compilation.emitAsset(file, source, { minimized: true });
            }
        },
      );
    });
  }
}

/** Defines `__ASSETS__` when it is compiled: after the workers. */
export function createAssetsDefinition(): webpack.DefinePlugin {
  return new webpack.DefinePlugin({
    __ASSETS__: webpack.DefinePlugin.runtimeValue(
      () =>
        JSON.stringify(
          Object.fromEntries(readAssets().map(({ name, file, integrity }) => [name, { file, integrity }])),
        ),
      true,
    ),
  });
}

function readAssets(): Asset[] {
  const requireFromEngine = createRequire(join(engineFolder, "package.json"));
  const sourcePaths: Readonly<Record<string, string>> = {
    "vault-worker": join(workersFolder, "vault-worker.js"),
    "visitor-worker": join(workersFolder, "visitor-worker.js"),
    "engine-worker": join(workersFolder, "engine-worker.js"),
    "transfer-worker": join(workersFolder, "transfer-worker.js"),
    "import-worker": join(workersFolder, "import-worker.js"),
    "strength-worker": join(workersFolder, "strength-worker.js"),
    "engine-simd": join(engineFolder, "build/engine.simd.wasm"),
    "engine-scalar": join(engineFolder, "build/engine.scalar.wasm"),
    jpeg: requireFromEngine.resolve("@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm"),
    png: requireFromEngine.resolve("@jsquash/png/codec/pkg/squoosh_png_bg.wasm"),
    // Fetched only for pictures of their type.
    webp: requireFromEngine.resolve("@jsquash/webp/codec/dec/webp_dec.wasm"),
    avif: requireFromEngine.resolve("@jsquash/avif/codec/dec/avif_dec.wasm"),
    heic: requireFromEngine.resolve("libheif-js/libheif-wasm/libheif.wasm"),
  };
  const readWasm = (name: string): Buffer => readFileSync(sourcePaths[name] ?? "");
  const generatedFiles: Readonly<Record<string, Buffer>> = {
    // Template of the kits that people create; not executed here. Named `.txt` because releases
    // contain no HTML.
    "kit.txt": Buffer.from(
      renderKitTemplate(
        Object.fromEntries(
          ["engine-simd", "engine-scalar", "jpeg", "png", "webp", "avif", "heic"].map((name) => [name, readWasm(name)]),
        ),
      ),
    ),
  };
  const extraFiles = readdirSync(workersFolder).filter(
    (file) => extname(file) === ".js" && !(file.slice(0, -3) in sourcePaths),
  );
  // A worker started from a blob URL cannot load further files.
  if (extraFiles.length > 0)
    throw new Error(`a worker must be one file, but the build also emitted ${extraFiles.join(", ")}`);
  const copiedFiles = Object.entries(sourcePaths).map(
    ([name, source]) => [`${name}${extname(source)}`, readFileSync(source)] as const,
  );
  return [...copiedFiles, ...Object.entries(generatedFiles)].map(([fileName, bytes]) => {
    const name = parse(fileName).name;
    return {
      name,
      file: `assets/${name}.${createHash("sha256").update(bytes).digest("hex").slice(0, 8)}${extname(fileName)}`,
      integrity: `sha384-${createHash("sha384").update(bytes).digest("base64")}`,
      bytes,
    };
  });
}
