import type { Decoded } from "./decode.ts";
import { unreadable } from "./header.ts";

interface Codec {
  readonly HEAPU8: Uint8Array;
}
interface Image {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

interface CodecLimits {
  /** Bytes that the codec's memory may grow to; asking for more fails there as it does when a machine has no more. */
  readonly mostMemory?: number;
  readonly printErr?: (line: string) => void;
}

/** Options that keep Emscripten's glue quiet, and from asking for its own address: the module is given. */
export function optionsFor(module: WebAssembly.Module, { mostMemory = Infinity, printErr = () => undefined }: CodecLimits = {}): EmscriptenWasm.ModuleOpts {
  return {
    noInitialRun: true,
    locateFile: (path) => path,
    print: () => undefined,
    printErr,
    instantiateWasm: (imports, done) => {
      const instance = new WebAssembly.Instance(module, imports);
      for (const value of Object.values(instance.exports)) if (value instanceof WebAssembly.Memory) keepWithin(value, mostMemory);
      done(instance);
      return instance.exports;
    },
  };
}

/** The glue grows a memory by its method, and takes an exception for "no more". */
function keepWithin(memory: WebAssembly.Memory, most: number): void {
  const grow = memory.grow.bind(memory);
  memory.grow = (pages) => {
    if (memory.buffer.byteLength + pages * 65536 > most) throw new RangeError("more memory than the picture needs");
    return grow(pages);
  };
}

/**
 * Decodes with a codec of @jsquash in an instance of its own, which is cleared afterwards: nothing of one picture meets the
 * next, and a codec that gave up is never used again. `picture_unreadable` when the file is broken or cut.
 */
export async function decodeOnce<T extends Codec>(
  kind: string,
  create: (options: EmscriptenWasm.ModuleOpts) => Promise<T>,
  module: WebAssembly.Module,
  mostMemory: number,
  bytes: Uint8Array,
  decode: (codec: T, file: Uint8Array<ArrayBuffer>) => Image | null,
): Promise<Decoded> {
  const seen = { cut: false };
  const codec = await create(
    optionsFor(module, {
      mostMemory,
      printErr: (line) => {
        if (/premature end of jpeg/i.test(line)) seen.cut = true; // libjpeg fills what is missing with grey and only warns
      },
    }),
  );
  const file = new Uint8Array(bytes); // a copy, whatever kind of array it is: slice() of Node's Buffer is none
  try {
    const image = decode(codec, file);
    if (image === null) throw unreadable("broken", kind);
    const { data, width, height } = image;
    const rgba = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    if (seen.cut) {
      rgba.fill(0);
      throw unreadable("broken", kind);
    }
    return { width, height, rgba, release: () => void rgba.fill(0) };
  } finally {
    codec.HEAPU8.fill(0);
    file.fill(0);
  }
}
