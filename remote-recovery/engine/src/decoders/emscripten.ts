import type { DecodedPicture } from "./picture-file.ts";
import { unreadableError } from "./picture-file.ts";

interface EmscriptenInstance {
  readonly HEAPU8: Uint8Array;
}
interface CodecImage {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

interface CodecLimits {
  /**
   * Bytes that the codec's memory may grow to; asking for more fails there as it does when a
   * machine has no more.
   */
  readonly maxMemory?: number;
  readonly printErr?: (line: string) => void;
}

/**
 * Options that keep Emscripten's glue quiet, and from asking for its own address: the module is
 * given.
 */
export function emscriptenOptions(
  module: WebAssembly.Module,
  { maxMemory = Infinity, printErr = () => undefined }: CodecLimits = {},
): EmscriptenWasm.ModuleOpts {
  return {
    noInitialRun: true,
    locateFile: (path) => path,
    print: () => undefined,
    printErr,
    instantiateWasm: (imports, done) => {
      const instance = new WebAssembly.Instance(module, imports);
      for (const value of Object.values(instance.exports))
        if (value instanceof WebAssembly.Memory) limitMemory(value, maxMemory);
      done(instance);
      return instance.exports;
    },
  };
}

/** The glue grows a memory by its method, and takes an exception for "no more". */
function limitMemory(memory: WebAssembly.Memory, maxBytes: number): void {
  const grow = memory.grow.bind(memory);
  memory.grow = (pages) => {
    if (memory.buffer.byteLength + pages * 65536 > maxBytes) throw new RangeError("more memory than the picture needs");
    return grow(pages);
  };
}

/** What decodeInFreshInstance needs of a codec besides its module. */
export interface Codec<T> {
  readonly kind: string;
  readonly create: (options: EmscriptenWasm.ModuleOpts) => Promise<T>;
  /** Null when the file is broken. */
  readonly decode: (codec: T, file: Uint8Array<ArrayBuffer>) => CodecImage | null;
  /** A warning that says: this file is broken. Decoding ends at once. */
  readonly fatalWarning?: RegExp;
}

/**
 * Decodes with a codec of @jsquash in an instance of its own, which is cleared afterwards: nothing
 * of one picture meets the next, and a codec that gave up is never used again. `picture_unreadable`
 * when the file is broken or cut.
 */
export async function decodeInFreshInstance<T extends EmscriptenInstance>(
  { kind, create, decode, fatalWarning }: Codec<T>,
  module: WebAssembly.Module,
  maxMemory: number,
  bytes: Uint8Array,
): Promise<DecodedPicture> {
  const printErr = (line: string) => {
    if (fatalWarning?.test(line) === true) throw unreadableError("broken", kind);
  };
  const codec = await create(emscriptenOptions(module, { maxMemory, printErr }));
  const file = new Uint8Array(bytes); // a copy, whatever kind of array it is: slice() of Node's Buffer is none
  try {
    const image = decode(codec, file);
    if (image === null) throw unreadableError("broken", kind);
    const { data, width, height } = image;
    const rgba = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    return { width, height, rgba, release: () => void rgba.fill(0) };
  } finally {
    clearMemory(codec.HEAPU8);
    file.fill(0);
  }
}

const pageBytes = 65_536;

/**
 * Fills a codec's memory with 0, but for pages that are 0 already: those of a broken file may never
 * have been written to, and writing would make the machine give memory for them.
 */
export function clearMemory(memory: Uint8Array): void {
  const words = new Uint32Array(memory.buffer, memory.byteOffset, memory.length / 4);
  for (let start = 0; start < words.length; start += pageBytes / 4) {
    const end = start + pageBytes / 4;
    let i = start;
    while (i < end && words[i] === 0) i++; // a loop: a function for each word takes seconds
    if (i < end) words.fill(0, start, end);
  }
}
