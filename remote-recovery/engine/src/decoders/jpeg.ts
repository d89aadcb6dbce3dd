import createDecoder from "@jsquash/jpeg/codec/dec/mozjpeg_dec.js";
import type { Decoded } from "./decode.ts";
import { decodeOnce } from "./emscripten.ts";

/** libjpeg fills in grey for what is missing, and only warns; of several warnings it says the first alone. */
const missing = /premature end/i;
/** A part of the picture is lost: worth a try while it takes little memory. */
const damaged = /premature end|bad Huffman code|instead of RST/i;
/** A broken picture may take so many bytes. */
const mostForBroken = 600_000_000;

/**
 * Decodes a baseline or progressive JPEG with mozjpeg. EXIF orientation and ICC profiles are not applied.
 * `picture_unreadable` when the file is broken, or a part of it is missing.
 */
export function decodeJpeg(bytes: Uint8Array, module: WebAssembly.Module, mostMemory: number): Promise<Decoded> {
  const giveUpAt = mostMemory > mostForBroken ? damaged : missing;
  return decodeOnce({ kind: "jpeg", create: createDecoder, decode: (codec, file) => codec.decode(file, false), giveUpAt }, module, mostMemory, bytes);
}
