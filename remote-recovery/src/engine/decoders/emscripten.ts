import type { Decoded } from "./decode.ts";
import { unreadable } from "./header.ts";

interface Instance {
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

/** What decodeOnce needs of a codec besides its module. */
export interface Codec<T> {
  readonly kind: string;
  readonly create: (options: EmscriptenWasm.ModuleOpts) => Promise<T>;
  /** Null when the file is broken. */
  readonly decode: (codec: T, file: Uint8Array<ArrayBuffer>) => Image | null;
  /** A warning that says: this file is broken. Decoding ends at once. */
  readonly giveUpAt?: RegExp;
}

/**
 * Decodes with a codec of @jsquash in an instance of its own, which is cleared afterwards: nothing of one picture meets the
 * next, and a codec that gave up is never used again. `picture_unreadable` when the file is broken or cut.
 */
export async function decodeOnce<T extends Instance>(
  { kind, create, decode, giveUpAt }: Codec<T>,
  module: WebAssembly.Module,
  mostMemory: number,
  bytes: Uint8Array,
): Promise<Decoded> {
  const printErr = (line: string) => {
    if (giveUpAt?.test(line) === true) throw unreadable("broken", kind);
  };
  const codec = await create(optionsFor(module, { mostMemory, printErr }));
  const file = new Uint8Array(bytes); // a copy, whatever kind of array it is: slice() of Node's Buffer is none
  try {
    const image = decode(codec, file);
    if (image === null) throw unreadable("broken", kind);
    const { data, width, height } = image;
    const rgba = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    return { width, height, rgba, release: () => void rgba.fill(0) };
  } finally {
    codec.HEAPU8.fill(0);
    file.fill(0);
  }
}
