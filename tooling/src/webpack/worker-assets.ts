import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { extname, join } from "node:path";

import { rootFolder } from "../paths.ts";

const recovery = join(rootFolder, "remote-recovery");
const built = join(recovery, "build/workers");
const mapFile = join(recovery, "build/assets.json");

/** The folder whose files a release of recovery carries as `assets/`. */
export const assetsFolder = join(recovery, "build/assets");

/** What recovery's page fetches beside its own code: file name inside the release, and integrity. */
export type AssetMap = Readonly<Record<string, { readonly file: string; readonly integrity: string }>>;

/** Gathers workers and WASM under hashed names, and notes them for the page's build. */
export function gatherAssets(): AssetMap {
  const packages = createRequire(join(recovery, "package.json"));
  const sources: Readonly<Record<string, string>> = {
    "vault-worker": join(built, "vault-worker.js"),
    "engine-worker": join(built, "engine-worker.js"),
    "transfer-worker": join(built, "transfer-worker.js"),
    "engine-simd": join(recovery, "engine/build/engine.simd.wasm"),
    "engine-scalar": join(recovery, "engine/build/engine.scalar.wasm"),
    jpeg: packages.resolve("@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm"),
    png: packages.resolve("@jsquash/png/codec/pkg/squoosh_png_bg.wasm"),
    // Fetched only when a picture of their kind is shown.
    webp: packages.resolve("@jsquash/webp/codec/dec/webp_dec.wasm"),
    avif: packages.resolve("@jsquash/avif/codec/dec/avif_dec.wasm"),
    heic: packages.resolve("libheif-js/libheif-wasm/libheif.wasm"),
  };
  rmSync(assetsFolder, { recursive: true, force: true });
  mkdirSync(assetsFolder, { recursive: true });
  const map: Record<string, { file: string; integrity: string }> = {};
  for (const [name, source] of Object.entries(sources)) {
    const bytes = readFileSync(source);
    const file = `${name}.${createHash("sha256").update(bytes).digest("hex").slice(0, 8)}${extname(source)}`;
    copyFileSync(source, join(assetsFolder, file));
    map[name] = { file: `assets/${file}`, integrity: `sha384-${createHash("sha384").update(bytes).digest("base64")}` };
  }
  const extra = readdirSync(built).filter((file) => extname(file) === ".js" && !(file.slice(0, -3) in sources));
  // A worker started from a blob address cannot load a second file.
  if (extra.length > 0) throw new Error(`a worker must be one file, but the build also made ${extra.join(", ")}`);
  writeFileSync(mapFile, `${JSON.stringify(map, null, 2)}\n`);
  return map;
}

/** The map that {@link gatherAssets} noted. */
export function readAssetMap(): unknown {
  if (!existsSync(mapFile)) throw new Error("the workers are not built yet: build recovery with `pnpm build recovery`");
  return JSON.parse(readFileSync(mapFile, "utf8"));
}
