import { clearMemory } from "./emscripten.ts";
import { unreadableError } from "./picture-file.ts";
import type { DecodedPicture } from "./picture-file.ts";

/**
 * Decodes a PNG of any colour type and depth to RGBA with the Rust codec of @jsquash/png. Keeps the
 * high byte of depth 16. The package's own glue code keeps one instance forever; this instance
 * serves one picture, is cleared, and needs no copy of the pixels. Throws `picture_unreadable` if
 * the file is broken or cut.
 */
export function decodePng(bytes: Uint8Array, module: WebAssembly.Module): DecodedPicture {
  let image: { address: number; length: number; width: number } | null = null;
  // Names of imports end in a hash; the part before the hash identifies the function.
  const bindings: readonly (readonly [start: string, run: (...numbers: readonly number[]) => unknown])[] = [
    [
      "__wbg_newwithownedu8clampedarrayandsh_",
      (address = 0, length = 0, width = 0) => {
        image = { address: address >>> 0, length: length >>> 0, width: width >>> 0 };
        return 0;
      },
    ],
    [
      "__wbindgen_throw",
      () => {
        throw unreadableError("broken", "png");
      },
    ],
    ["__wbindgen_memory", () => 0],
    ["__wbindgen_object_drop_ref", () => undefined],
    ["__wbg_buffer_", () => 0],
    ["__wbg_newwithbyteoffsetandlength_", () => 0],
  ];
  const imports: Record<string, () => unknown> = {};
  for (const { name } of WebAssembly.Module.imports(module)) {
    const binding = bindings.find(([namePrefix]) => name.startsWith(namePrefix));
    if (binding !== undefined) imports[name] = binding[1];
  }
  const { memory, allocate, decode } = parseExports(new WebAssembly.Instance(module, { wbg: imports }).exports);
  const release = () => {
    clearMemory(new Uint8Array(memory.buffer));
  };
  try {
    const input = allocate(bytes.length, 1) >>> 0;
    new Uint8Array(memory.buffer).set(bytes, input);
    decode(input, bytes.length);
  } catch (error) {
    release();
    throw unreadableError("broken", "png", error);
  }
  return toDecodedPicture(image, memory, release);
}

function toDecodedPicture(
  image: { address: number; length: number; width: number } | null,
  memory: WebAssembly.Memory,
  release: () => void,
): DecodedPicture {
  if (image === null || image.width === 0 || image.length % (4 * image.width) !== 0) {
    release();
    throw unreadableError("broken", "png");
  }
  const { address, length, width } = image;
  return { width, height: length / (4 * width), rgba: new Uint8Array(memory.buffer, address, length), release };
}

interface PngCodec {
  readonly memory: WebAssembly.Memory;
  readonly allocate: (size: number, alignment: number) => number;
  readonly decode: (address: number, length: number) => void;
}

function parseExports(exports: WebAssembly.Exports): PngCodec {
  const { memory, __wbindgen_malloc: allocate, decode } = exports;
  if (!(memory instanceof WebAssembly.Memory) || !isWasmFunction(allocate) || !isWasmFunction(decode)) {
    throw new TypeError("the module does not export the PNG codec");
  }
  return { memory, allocate, decode: (address, length) => void decode(address, length) };
}

/** Exported functions take numbers and return one. */
function isWasmFunction(value: unknown): value is (...numbers: readonly number[]) => number {
  return typeof value === "function";
}
