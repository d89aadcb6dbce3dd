import { clear } from "./emscripten.ts";
import { unreadable } from "./picture-file.ts";
import type { Decoded } from "./picture-file.ts";

/**
 * Decodes a PNG of any colour type and depth to RGBA with the Rust codec of @jsquash/png, in an
 * instance of its own. Depth 16 keeps the high byte. The package's own glue keeps one instance for
 * ever, memory and all; this one lives for one picture, is cleared, and needs no copy of the
 * pixels. `picture_unreadable` when the file is broken or cut.
 */
export function decodePng(bytes: Uint8Array, module: WebAssembly.Module): Decoded {
  let image: { at: number; length: number; width: number } | null = null;
  // The names carry a hash of the binding; what they do is in the part before it.
  const behaviour: readonly (readonly [start: string, run: (...numbers: readonly number[]) => unknown])[] = [
    [
      "__wbg_newwithownedu8clampedarrayandsh_",
      (at = 0, length = 0, width = 0) => {
        image = { at: at >>> 0, length: length >>> 0, width: width >>> 0 };
        return 0;
      },
    ],
    [
      "__wbindgen_throw",
      () => {
        throw unreadable("broken", "png");
      },
    ],
    ["__wbindgen_memory", () => 0],
    ["__wbindgen_object_drop_ref", () => undefined],
    ["__wbg_buffer_", () => 0],
    ["__wbg_newwithbyteoffsetandlength_", () => 0],
  ];
  const imports: Record<string, () => unknown> = {};
  for (const { name } of WebAssembly.Module.imports(module)) {
    const found = behaviour.find(([start]) => name.startsWith(start));
    if (found !== undefined) imports[name] = found[1];
  }
  const { memory, allocate, decode } = parseExports(new WebAssembly.Instance(module, { wbg: imports }).exports);
  const release = () => {
    clear(new Uint8Array(memory.buffer));
  };
  try {
    const input = allocate(bytes.length, 1) >>> 0;
    new Uint8Array(memory.buffer).set(bytes, input);
    decode(input, bytes.length);
  } catch (error) {
    release();
    throw unreadable("broken", "png", error);
  }
  return finish(image, memory, release);
}

function finish(
  image: { at: number; length: number; width: number } | null,
  memory: WebAssembly.Memory,
  release: () => void,
): Decoded {
  if (image === null || image.width === 0 || image.length % (4 * image.width) !== 0) {
    release();
    throw unreadable("broken", "png");
  }
  const { at, length, width } = image;
  return { width, height: length / (4 * width), rgba: new Uint8Array(memory.buffer, at, length), release };
}

interface PngCodec {
  readonly memory: WebAssembly.Memory;
  readonly allocate: (size: number, alignment: number) => number;
  readonly decode: (at: number, length: number) => void;
}

function parseExports(exports: WebAssembly.Exports): PngCodec {
  const { memory, __wbindgen_malloc: allocate, decode } = exports;
  if (!(memory instanceof WebAssembly.Memory) || !isWasmFunction(allocate) || !isWasmFunction(decode)) {
    throw new TypeError("this module is not the PNG codec");
  }
  return { memory, allocate, decode: (at, length) => void decode(at, length) };
}

/** Exports are numbers in, a number out. */
function isWasmFunction(value: unknown): value is (...numbers: readonly number[]) => number {
  return typeof value === "function";
}
