/** Encoders and decoders of the study: a picture after being saved and read again. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import createAvifEncoder from "@jsquash/avif/codec/enc/avif_enc.js";
import { defaultOptions as avifDefaults } from "@jsquash/avif/meta.js";
import createJpegEncoder from "@jsquash/jpeg/codec/enc/mozjpeg_enc.js";
import { defaultOptions as jpegDefaults } from "@jsquash/jpeg/meta.js";
import createWebpEncoder from "@jsquash/webp/codec/enc/webp_enc.js";
import { defaultOptions as webpDefaults } from "@jsquash/webp/meta.js";
import { decodePicture, type CodecName } from "../src/decoders/decode.ts";
import { optionsFor } from "../src/decoders/emscripten.ts";
import { loadCodecInNode, loadModulesInNode } from "../src/load-engine.ts";
import type { Raster } from "../src/rows.ts";

/** Grey levels that a codec may lose on the average of all bytes; a damaged file loses far more. */
const mostLost = 16;

type Save = (picture: Raster, quality: number) => Promise<Raster>;
type Write = (picture: Raster, quality: number) => Promise<Uint8Array>;

export interface Codecs {
  readonly decode: (bytes: Uint8Array) => Promise<Raster>;
  /** Baseline, 4:2:0, tables of annex K: what most programs write. */
  readonly jpeg: Save;
  readonly webp: Save;
  readonly avif: Save;
  /** The files themselves. */
  readonly jpegFile: Write;
  readonly webpFile: (picture: Raster, quality: number, lossless?: boolean) => Promise<Uint8Array>;
  readonly avifFile: Write;
}

export async function loadCodecs(): Promise<Codecs> {
  const modules = await loadModulesInNode();
  const lazy = new Map<CodecName, Promise<WebAssembly.Module>>();
  const codec = (name: CodecName) => {
    if (name === "jpeg" || name === "png") return Promise.resolve(modules[name]);
    const known = lazy.get(name) ?? loadCodecInNode(name);
    lazy.set(name, known);
    return known;
  };
  const compile = async (path: string) =>
    WebAssembly.compile(await readFile(fileURLToPath(new URL(`../node_modules/@jsquash/${path}`, import.meta.url))));
  const [jpegModule, webpModule, avifModule] = await Promise.all([
    compile("jpeg/codec/enc/mozjpeg_enc.wasm"),
    compile("webp/codec/enc/webp_enc.wasm"),
    compile("avif/codec/enc/avif_enc.wasm"),
  ]);

  const decode = (bytes: Uint8Array) => decodePicture(bytes, codec);
  const again = async (picture: Raster, file: Uint8Array): Promise<Raster> => {
    const saved = { ...(await decode(file)), orientation: picture.orientation };
    if (meanDifference(saved, picture) > mostLost) throw new Error("the encoder wrote a damaged file");
    return saved;
  };
  // Huffman tables are made for each file: with the standard ones this encoder now and then writes
  // a damaged file.
  const jpegFile: Write = async ({ rgba, width, height }, quality) => {
    const encoder = await createJpegEncoder(optionsFor(jpegModule));
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
  const webpFile = async ({ rgba, width, height }: Raster, quality: number, lossless = false) => {
    const encoder = await createWebpEncoder(optionsFor(webpModule));
    return written(
      encoder.encode(new Uint8Array(rgba), width, height, {
        ...webpDefaults,
        quality,
        ...(lossless ? { lossless: 1, method: 0 } : {}),
      }),
    );
  };
  const avifFile: Write = async ({ rgba, width, height }, quality) => {
    const encoder = await createAvifEncoder(optionsFor(avifModule));
    return written(encoder.encode(new Uint8Array(rgba), width, height, { ...avifDefaults, quality, speed: 9 }));
  };
  return {
    decode,
    jpegFile,
    webpFile,
    avifFile,
    jpeg: async (picture, quality) => again(picture, await jpegFile(picture, quality)),
    webp: async (picture, quality) => again(picture, await webpFile(picture, quality)),
    avif: async (picture, quality) => again(picture, await avifFile(picture, quality)),
  };
}

function written(file: Uint8Array | null): Uint8Array {
  if (file === null) throw new Error("the encoder gave nothing");
  return file;
}

function meanDifference(a: Raster, b: Raster): number {
  let sum = 0;
  for (let i = 0; i < b.rgba.length; i++) sum += Math.abs((a.rgba[i] ?? 0) - (b.rgba[i] ?? 0));
  return sum / b.rgba.length;
}
