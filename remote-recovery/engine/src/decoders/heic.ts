import createLibheif from "libheif-js/libheif-wasm/libheif.js";
import type { DecodedPicture } from "./picture-file.ts";
import { clearMemory, emscriptenOptions } from "./emscripten.ts";
import { unreadableError } from "./picture-file.ts";

/**
 * Decodes the primary image of a HEIC with libheif, which applies rotation and mirror. Uses a fresh
 * instance, which is cleared afterwards. Rejects with `picture_unreadable` if the file is broken or
 * cut.
 */
export async function decodeHeic(
  bytes: Uint8Array,
  module: WebAssembly.Module,
  maxMemory: number,
): Promise<DecodedPicture> {
  const codec: unknown = createLibheif(emscriptenOptions(module, { maxMemory }));
  if (!isLibheif(codec)) throw new TypeError("the module does not export libheif");
  const release = () => {
    clearMemory(codec.HEAPU8);
  };
  try {
    // Calls the same functions as the package's HeifDecoder, which also writes to the console.
    const context = codec.heif_context_alloc();
    if (codec.heif_context_read_from_memory(context, bytes).code !== codec.heif_error_code.heif_error_Ok)
      throw unreadableError("broken", "heic");
    const ids = codec.heif_js_context_get_list_of_top_level_image_IDs(context);
    const handles = Array.isArray(ids)
      ? ids.map((id: number) => codec.heif_js_context_get_image_handle(context, id))
      : [];
    // the image whose header was read
    const handle = handles.find((candidate) => codec.heif_image_handle_is_primary_image(candidate));
    if (handle === undefined) throw unreadableError("broken", "heic");
    const image = await codec.heif_js_decode_image2(
      handle,
      codec.heif_colorspace.heif_colorspace_RGB,
      codec.heif_chroma.heif_chroma_interleaved_RGBA,
    );
    const plane = image.channels?.find(({ id }) => id === codec.heif_channel.heif_channel_interleaved);
    if (plane === undefined) throw unreadableError("broken", "heic");
    return packRows(plane, release);
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * Removes the padding of rows within the codec's memory, because a copy would double the memory.
 */
function packRows({ data, width, height, stride }: Plane, release: () => void): DecodedPicture {
  const rowBytes = width * 4;
  if (stride !== rowBytes)
    for (let row = 1; row < height; row++) data.copyWithin(row * rowBytes, row * stride, row * stride + rowBytes);
  return { width, height, rgba: data.subarray(0, rowBytes * height), release };
}

interface Plane {
  readonly id: unknown;
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  /** Bytes from row to row. */
  readonly stride: number;
}

/**
 * The part of libheif's script that is used here. Its declarations omit the handwritten functions.
 */
interface Libheif {
  readonly HEAPU8: Uint8Array;
  readonly heif_context_alloc: () => unknown;
  readonly heif_context_read_from_memory: (context: unknown, bytes: Uint8Array) => { readonly code: unknown };
  /** An error object instead of an array on failure. */
  readonly heif_js_context_get_list_of_top_level_image_IDs: (context: unknown) => unknown;
  readonly heif_js_context_get_image_handle: (context: unknown, id: number) => unknown;
  readonly heif_image_handle_is_primary_image: (handle: unknown) => unknown;
  /** An error object without channels on failure. */
  readonly heif_js_decode_image2: (
    handle: unknown,
    space: unknown,
    chroma: unknown,
  ) => Promise<{ readonly channels?: readonly Plane[] }>;
  readonly heif_error_code: { readonly heif_error_Ok: unknown };
  readonly heif_colorspace: { readonly heif_colorspace_RGB: unknown };
  readonly heif_chroma: { readonly heif_chroma_interleaved_RGBA: unknown };
  readonly heif_channel: { readonly heif_channel_interleaved: unknown };
}

function isLibheif(value: unknown): value is Libheif {
  return (
    typeof value === "object" && value !== null && "heif_context_alloc" in value && "heif_js_decode_image2" in value
  );
}
