import createDecoder from "@jsquash/webp/codec/dec/webp_dec.js";
import type { Decoded } from "./decode.ts";
import { decodeOnce } from "./emscripten.ts";

/** Decodes a still WebP, lossy or lossless, with libwebp. `picture_unreadable` when the file is broken or cut. */
export function decodeWebp(bytes: Uint8Array, module: WebAssembly.Module, mostMemory: number): Promise<Decoded> {
  return decodeOnce({ kind: "webp", create: createDecoder, decode: (codec, file) => codec.decode(file) }, module, mostMemory, bytes);
}
