/** Codecs of the study: save a picture and read it again. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import createAvifEncoder from "@jsquash/avif/codec/enc/avif_enc.js";
import { defaultOptions as avifDefaults } from "@jsquash/avif/meta.js";
import createJpegEncoder from "@jsquash/jpeg/codec/enc/mozjpeg_enc.js";
import { defaultOptions as jpegDefaults } from "@jsquash/jpeg/meta.js";
import createWebpEncoder from "@jsquash/webp/codec/enc/webp_enc.js";
import { defaultOptions as webpDefaults } from "@jsquash/webp/meta.js";
import { decodePicture, type CodecName } from "../src/decoders/decode.ts";
import { emscriptenOptions } from "../src/decoders/emscripten.ts";
import { loadCodecInNode, loadModulesInNode } from "../src/load-engine.ts";
import type { Raster } from "../src/picture-rows.ts";

/**
 * Limit of the mean loss of a codec over all bytes, in grey levels; a damaged file loses far more.
 */
const maxMeanLoss = 16;

type RoundTrip = (picture: Raster, quality: number) => Promise<Raster>;
type Encode = (picture: Raster, quality: number) => Promise<Uint8Array>;

export interface Codecs {
  readonly decode: (bytes: Uint8Array) => Promise<Raster>;
  /** Baseline, 4:2:0, tables of annex K, like the files of most programs. */
  readonly jpeg: RoundTrip;
  readonly webp: RoundTrip;
  readonly avif: RoundTrip;
  readonly encodeJpeg: Encode;
  readonly encodeWebp: (picture: Raster, quality: number, lossless?: boolean) => Promise<Uint8Array>;
  readonly encodeAvif: Encode;
}

export async function loadCodecs(): Promise<Codecs> {
  const modules = await loadModulesInNode();
  const pendingModules = new Map<CodecName, Promise<WebAssembly.Module>>();
  const loadCodec = (name: CodecName) => {
    if (name === "jpeg" || name === "png") return Promise.resolve(modules[name]);
    const pending = pendingModules.get(name) ?? loadCodecInNode(name);
    pendingModules.set(name, pending);
    return pending;
  };
  const compile = async (path: string) =>
    WebAssembly.compile(await readFile(fileURLToPath(new URL(`../node_modules/@jsquash/${path}`, import.meta.url))));
  const [jpegModule, webpModule, avifModule] = await Promise.all([
    compile("jpeg/codec/enc/mozjpeg_enc.wasm"),
    compile("webp/codec/enc/webp_enc.wasm"),
    compile("avif/codec/enc/avif_enc.wasm"),
  ]);

  const decode = async (bytes: Uint8Array): Promise<Raster> => {
    const { damage, ...raster } = await decodePicture(bytes, loadCodec);
    if (damage !== null) throw damage;
    return raster;
  };
  const decodeAndVerify = async (picture: Raster, file: Uint8Array): Promise<Raster> => {
    const savedPicture = { ...(await decode(file)), orientation: picture.orientation };
    if (meanDifference(savedPicture, picture) > maxMeanLoss) throw new Error("the encoder wrote a damaged file");
    return savedPicture;
  };
  // Optimised Huffman tables, because with standard ones this encoder sometimes writes a damaged
  // file.
  const encodeJpeg: Encode = async ({ rgba, width, height }, quality) => {
    const encoder = await createJpegEncoder(emscriptenOptions(jpegModule));
    const options = {
      baseline: true,
      progressive: false,
      optimize_coding: true,
      quant_table: 0,
      auto_subsample: false,
      chroma_subsample: 2,
    };
    return new Uint8Array(
      encoder.encode(new Uint8Array(rgba), width, height, { ...jpegDefaults, ...options, quality }),
    );
  };
  const encodeWebp = async ({ rgba, width, height }: Raster, quality: number, lossless = false) => {
    const encoder = await createWebpEncoder(emscriptenOptions(webpModule));
    return requireFile(
      encoder.encode(new Uint8Array(rgba), width, height, {
        ...webpDefaults,
        quality,
        ...(lossless ? { lossless: 1, method: 0 } : {}),
      }),
    );
  };
  const encodeAvif: Encode = async ({ rgba, width, height }, quality) => {
    const encoder = await createAvifEncoder(emscriptenOptions(avifModule));
    return requireFile(encoder.encode(new Uint8Array(rgba), width, height, { ...avifDefaults, quality, speed: 9 }));
  };
  return {
    decode,
    encodeJpeg,
    encodeWebp,
    encodeAvif,
    jpeg: async (picture, quality) => decodeAndVerify(picture, await encodeJpeg(picture, quality)),
    webp: async (picture, quality) => decodeAndVerify(picture, await encodeWebp(picture, quality)),
    avif: async (picture, quality) => decodeAndVerify(picture, await encodeAvif(picture, quality)),
  };
}

function requireFile(file: Uint8Array | null): Uint8Array {
  if (file === null) throw new Error("the encoder returned no file");
  return file;
}

function meanDifference(a: Raster, b: Raster): number {
  let sum = 0;
  for (let i = 0; i < b.rgba.length; i++) sum += Math.abs((a.rgba[i] ?? 0) - (b.rgba[i] ?? 0));
  return sum / b.rgba.length;
}
