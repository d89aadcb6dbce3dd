import type { Decoded } from "./picture-file.ts";
import { unreadable } from "./picture-file.ts";

interface Instance {
  readonly HEAPU8: Uint8Array;
}
interface Image {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

interface CodecLimits {
  /**
   * Bytes that the codec's memory may grow to; asking for more fails there as it does when a
   * machine has no more.
   */
  readonly mostMemory?: number;
  readonly printErr?: (line: string) => void;
}

/**
 * Options that keep Emscripten's glue quiet, and from asking for its own address: the module is
 * given.
 */
export function optionsFor(
  module: WebAssembly.Module,
  { mostMemory = Infinity, printErr = () => undefined }: CodecLimits = {},
): EmscriptenWasm.ModuleOpts {
  return {
    noInitialRun: true,
    locateFile: (path) => path,
    print: () => undefined,
    printErr,
    instantiateWasm: (imports, done) => {
      const instance = new WebAssembly.Instance(module, imports);
      for (const value of Object.values(instance.exports))
        if (value instanceof WebAssembly.Memory) keepWithin(value, mostMemory);
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
 * Decodes with a codec of @jsquash in an instance of its own, which is cleared afterwards: nothing
 * of one picture meets the next, and a codec that gave up is never used again. `picture_unreadable`
 * when the file is broken or cut.
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
    clear(codec.HEAPU8);
    file.fill(0);
  }
}

const page = 65_536;

/**
 * Fills a codec's memory with 0, but for pages that are 0 already: those of a broken file may never
 * have been written to, and writing would make the machine give memory for them.
 */
export function clear(memory: Uint8Array): void {
  const words = new Uint32Array(memory.buffer, memory.byteOffset, memory.length / 4);
  for (let from = 0; from < words.length; from += page / 4) {
    const end = from + page / 4;
    let at = from;
    while (at < end && words[at] === 0) at++; // a loop: a function for each word takes seconds
    if (at < end) words.fill(0, from, end);
  }
}
