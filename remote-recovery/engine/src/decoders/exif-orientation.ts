/** Reads the orientation, the only metadata tag that the engine uses. */

const orientationTag = 0x0112;
const shortType = 3;

/**
 * Orientation 1…8 in the first directory of a TIFF structure (EXIF 2.32, 4.6.2). Null if there is
 * none or the structure is broken; the picture then keeps its stored orientation.
 */
export function readExifOrientation(tiff: Uint8Array): number | null {
  if (tiff.length < 8) return null;
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength);
  const byteOrder = view.getUint16(0);
  if (byteOrder !== 0x4949 && byteOrder !== 0x4d4d) return null;
  const littleEndian = byteOrder === 0x4949;
  if (view.getUint16(2, littleEndian) !== 42) return null;
  const directoryOffset = view.getUint32(4, littleEndian);
  if (directoryOffset + 2 > tiff.length) return null;
  const count = view.getUint16(directoryOffset, littleEndian);
  for (let i = 0; i < count; i++) {
    const entryOffset = directoryOffset + 2 + 12 * i;
    if (entryOffset + 12 > tiff.length) return null;
    if (view.getUint16(entryOffset, littleEndian) !== orientationTag) continue;
    if (
      view.getUint16(entryOffset + 2, littleEndian) !== shortType ||
      view.getUint32(entryOffset + 4, littleEndian) !== 1
    )
      return null;
    const value = view.getUint16(entryOffset + 8, littleEndian);
    return value >= 1 && value <= 8 ? value : null;
  }
  return null;
}
