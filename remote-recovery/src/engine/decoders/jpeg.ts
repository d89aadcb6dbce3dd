import createDecoder from "@jsquash/jpeg/codec/dec/mozjpeg_dec.js";
import type { Decoded } from "./decode.ts";
import { decodeOnce } from "./emscripten.ts";

/**
 * Decodes a baseline or progressive JPEG with mozjpeg. EXIF orientation and ICC profiles are not applied.
 * `picture_unreadable` when the file is broken or cut.
 */
export function decodeJpeg(bytes: Uint8Array, module: WebAssembly.Module, mostMemory: number): Promise<Decoded> {
  return decodeOnce("jpeg", createDecoder, module, mostMemory, bytes, (codec, file) => codec.decode(file, false));
}
