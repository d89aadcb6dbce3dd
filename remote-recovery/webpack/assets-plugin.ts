import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { extname, join, parse } from "node:path";

import webpack, { type Compiler } from "webpack";

import { renderKitTemplate } from "./kit-template.ts";

const engine = join(import.meta.dirname, "../engine");
/** Where the build puts the workers. */
export const workersOutput = join(import.meta.dirname, "../build/workers");

interface Asset {
  readonly name: string;
  /** Inside the release, named by its content. */
  readonly file: string;
  readonly integrity: string;
  readonly bytes: Buffer;
}

/**
 * Carries what recovery's page fetches beside its own code: workers and WASM, under names of their
 * content as `assets/`. The page knows them, with their integrity, as `__ASSETS__`. The workers are
 * built before (`dependencies` of the configuration).
 */
export class AssetsPlugin {
  apply(compiler: Compiler): void {
    new webpack.DefinePlugin({
      __ASSETS__: webpack.DefinePlugin.runtimeValue(
        () =>
          JSON.stringify(
            Object.fromEntries(readAssets().map(({ name, file, integrity }) => [name, { file, integrity }])),
          ),
        true,
      ),
    }).apply(compiler);
    compiler.hooks.thisCompilation.tap(AssetsPlugin.name, (compilation) => {
      compilation.hooks.processAssets.tap(
        { name: AssetsPlugin.name, stage: webpack.Compilation.PROCESS_ASSETS_STAGE_ADDITIONAL },
        () => {
          // Minimised as workers: a hash of them is in the page already.
          for (const { file, bytes } of readAssets())
            compilation.emitAsset(file, new webpack.sources.RawSource(bytes), { minimized: true, immutable: true });
        },
      );
    });
  }
}

function readAssets(): Asset[] {
  const requireFromEngine = createRequire(join(engine, "package.json"));
  const sources: Readonly<Record<string, string>> = {
    "vault-worker": join(workersOutput, "vault-worker.js"),
    "visitor-worker": join(workersOutput, "visitor-worker.js"),
    "engine-worker": join(workersOutput, "engine-worker.js"),
    "transfer-worker": join(workersOutput, "transfer-worker.js"),
    "import-worker": join(workersOutput, "import-worker.js"),
    "engine-simd": join(engine, "build/engine.simd.wasm"),
    "engine-scalar": join(engine, "build/engine.scalar.wasm"),
    jpeg: requireFromEngine.resolve("@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm"),
    png: requireFromEngine.resolve("@jsquash/png/codec/pkg/squoosh_png_bg.wasm"),
    // Fetched only when a picture of their kind is shown.
    webp: requireFromEngine.resolve("@jsquash/webp/codec/dec/webp_dec.wasm"),
    avif: requireFromEngine.resolve("@jsquash/avif/codec/dec/avif_dec.wasm"),
    heic: requireFromEngine.resolve("libheif-js/libheif-wasm/libheif.wasm"),
  };
  const wasm = (name: string): Buffer => readFileSync(sources[name] ?? "");
  const generated: Readonly<Record<string, Buffer>> = {
    // What goes into the kits that people make. It runs nowhere here, and no page is made of it:
    // releases hold no HTML.
    "kit.txt": Buffer.from(
      renderKitTemplate(
        Object.fromEntries(
          ["engine-simd", "engine-scalar", "jpeg", "png", "webp", "avif", "heic"].map((name) => [name, wasm(name)]),
        ),
      ),
    ),
  };
  const extra = readdirSync(workersOutput).filter((file) => extname(file) === ".js" && !(file.slice(0, -3) in sources));
  // A worker started from a blob address cannot load a second file.
  if (extra.length > 0) throw new Error(`a worker must be one file, but the build also made ${extra.join(", ")}`);
  const copied = Object.entries(sources).map(
    ([name, source]) => [`${name}${extname(source)}`, readFileSync(source)] as const,
  );
  return [...copied, ...Object.entries(generated)].map(([fileName, bytes]) => {
    const name = parse(fileName).name;
    return {
      name,
      file: `assets/${name}.${createHash("sha256").update(bytes).digest("hex").slice(0, 8)}${extname(fileName)}`,
      integrity: `sha384-${createHash("sha384").update(bytes).digest("base64")}`,
      bytes,
    };
  });
}
