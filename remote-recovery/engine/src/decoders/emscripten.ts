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
  /** Limit of the codec's memory in bytes. Growing beyond it fails as if the device had no more. */
  readonly maxMemory?: number;
  readonly printErr?: (line: string) => void;
}

/**
 * Options that silence Emscripten's glue code, and make it use the given module instead of fetching
 * one.
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

/** The glue code grows memory by this method, and treats an exception as a failure. */
function limitMemory(memory: WebAssembly.Memory, maxBytes: number): void {
  const grow = memory.grow.bind(memory);
  memory.grow = (pages) => {
    if (memory.buffer.byteLength + pages * 65536 > maxBytes)
      throw new RangeError("the codec asked for more memory than its limit");
    return grow(pages);
  };
}

export interface Codec<T> {
  readonly kind: string;
  readonly create: (options: EmscriptenWasm.ModuleOpts) => Promise<T>;
  /** Null when the file is broken. */
  readonly decode: (codec: T, file: Uint8Array<ArrayBuffer>) => CodecImage | null;
  /** Warning that marks a broken file. Decoding then stops immediately. */
  readonly fatalWarning?: RegExp | null;
}

/**
 * Decodes with a codec of @jsquash in a fresh instance, which is cleared afterwards. So no data of
 * a picture reaches the next one, and a failed codec is never used again. Rejects with
 * `picture_unreadable` if the file is broken or cut.
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
  const file = new Uint8Array(bytes); // always a copy: slice() of Node's Buffer makes none
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
 * Fills a codec's memory with 0, except pages that are already 0. A broken file may leave many
 * pages untouched, and writing to them would allocate them.
 */
export function clearMemory(memory: Uint8Array): void {
  const words = new Uint32Array(memory.buffer, memory.byteOffset, memory.length / 4);
  for (let start = 0; start < words.length; start += pageBytes / 4) {
    const end = start + pageBytes / 4;
    let i = start;
    while (i < end && words[i] === 0) i++; // not findIndex: a callback per word takes seconds
    if (i < end) words.fill(0, start, end);
  }
}
