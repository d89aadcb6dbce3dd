import createDecoder from "@jsquash/avif/codec/dec/avif_dec.js";
import type { Decoded } from "./decode.ts";
import { decodeOnce } from "./emscripten.ts";

/**
 * Decodes an AVIF with libavif to 8 bits a channel. Its turn and mirror are not applied: the header says them.
 * `picture_unreadable` when the file is broken or cut.
 */
export function decodeAvif(bytes: Uint8Array, module: WebAssembly.Module, mostMemory: number): Promise<Decoded> {
  return decodeOnce({ kind: "avif", create: createDecoder, decode: (codec, file) => codec.decode(file, 8) }, module, mostMemory, bytes);
}
