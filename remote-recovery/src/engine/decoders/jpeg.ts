import createDecoder from "@jsquash/jpeg/codec/dec/mozjpeg_dec.js";
import { unreadable } from "./header.ts";
import type { Decoded } from "./decode.ts";

/**
 * Decodes a baseline or progressive JPEG with mozjpeg, in an instance of its own that is cleared afterwards: nothing of one
 * picture meets the next, and a codec that gave up is never used again. EXIF orientation and ICC profiles are not applied.
 * `picture_unreadable` when the file is broken or cut.
 */
export async function decodeJpeg(bytes: Uint8Array, module: WebAssembly.Module): Promise<Decoded> {
  const seen = { cut: false };
  const codec = await createDecoder({
    noInitialRun: true,
    locateFile: (path) => path, // keeps the glue from asking for its own address
    print: () => undefined,
    printErr: (line) => {
      if (/premature end/i.test(line)) seen.cut = true; // libjpeg fills what is missing with grey and only warns
    },
    instantiateWasm: (imports, done) => {
      const instance = new WebAssembly.Instance(module, imports);
      done(instance);
      return instance.exports;
    },
  });
  const file = new Uint8Array(bytes); // a copy, whatever kind of array it is: slice() of Node's Buffer is none
  try {
    const image = codec.decode(file, false);
    if (image === null) throw unreadable("broken", "jpeg");
    const { data, width, height } = image;
    const rgba = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    if (seen.cut) {
      rgba.fill(0);
      throw unreadable("broken", "jpeg");
    }
    return { width, height, rgba, release: () => void rgba.fill(0) };
  } finally {
    codec.HEAPU8.fill(0);
    file.fill(0);
  }
}
