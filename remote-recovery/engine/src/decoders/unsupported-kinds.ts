/**
 * Identifies known but unsupported files by their first bytes, so that the message can name the
 * kind and say "save it as JPEG or PNG".
 */

/** Kind of the file, such as `raf`, `gif` or `tiff`; null if unknown. */
export function identifyUnsupportedKind(bytes: Uint8Array): string | null {
  const text = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to));
  const start = text(0, 32);
  for (const [magic, kind] of signatures) if (start.startsWith(magic)) return kind;
  if (start.startsWith("BM") && bytes.length > 26) return "bmp";
  if (start.startsWith("II*\0") || start.startsWith("MM\0*")) return identifyTiff(bytes);
  if (text(4, 8) === "ftyp") return identifyBrand(text(8, 12));
  if (/^\s*(<\?xml[^>]*>\s*)?(<!--[^]*?-->\s*)?(<!DOCTYPE svg[^>]*>\s*)?<svg[\s>]/.test(text(0, 512))) return "svg";
  return null;
}

/**
 * Signatures of RAW files that are not based on TIFF: Fujifilm, Olympus, Panasonic, Sigma, and old
 * Canon.
 */
const signatures: readonly (readonly [magic: string, kind: string])[] = [
  ["GIF8", "gif"],
  ["FUJIFILMCCD-RAW", "raf"],
  ["IIRO", "orf"],
  ["IIRS", "orf"],
  ["MMOR", "orf"],
  ["IIU\0", "rw2"],
  ["FOVb", "x3f"],
  ["II\x1a\0\0\0HEAPCCDR", "crw"],
  ["\xff\n", "jpeg_xl"],
  ["\0\0\0\fJXL ", "jpeg_xl"],
  ["\0\0\0\fjP  ", "jpeg_2000"],
  ["8BPS", "psd"],
  ["%PDF", "pdf"],
];

function identifyBrand(brand: string): string | null {
  if (brand === "crx ") return "cr3";
  return /^(qt {2}|isom|iso[2-9]|mp4[12]|avc1|M4V |3g[gp].)$/.test(brand) ? "video" : null;
}

const tiffTags = { make: 0x010f, subDirectories: 0x014a, dngVersion: 0xc612 } as const;
const asciiType = 2;

/**
 * Distinguishes a TIFF (6.0, section 2) from RAW files based on it. Canon's has a mark, Adobe's a
 * version tag; those of Nikon and Sony have the picture in a subdirectory.
 */
function identifyTiff(bytes: Uint8Array): string {
  if (bytes[8] === 0x43 && bytes[9] === 0x52) return "cr2"; // "CR", Canon's mark
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const littleEndian = bytes[0] === 0x49;
  const directory = bytes.length < 8 ? bytes.length : view.getUint32(4, littleEndian);
  if (directory + 2 > bytes.length) return "tiff";
  let make = "";
  let hasSubDirectories = false;
  const count = view.getUint16(directory, littleEndian);
  for (let entry = directory + 2; entry < directory + 2 + 12 * count && entry + 12 <= bytes.length; entry += 12) {
    const tag = view.getUint16(entry, littleEndian);
    if (tag === tiffTags.dngVersion) return "dng";
    if (tag === tiffTags.subDirectories) hasSubDirectories = true;
    if (tag === tiffTags.make && view.getUint16(entry + 2, littleEndian) === asciiType) {
      const length = view.getUint32(entry + 4, littleEndian);
      const offset = length <= 4 ? entry + 8 : view.getUint32(entry + 8, littleEndian);
      make = String.fromCharCode(...bytes.subarray(offset, offset + Math.min(length, 16))).toUpperCase();
    }
  }
  if (hasSubDirectories && make.startsWith("NIKON")) return "nef";
  return hasSubDirectories && make.startsWith("SONY") ? "arw" : "tiff";
}
