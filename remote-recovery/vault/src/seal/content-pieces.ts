/* Sizes of sealed contents: numbers alone, so that the page may ask too. */

/** Plain bytes of every piece but the last, and the tag behind each. */
export const pieceBytes = 64 * 1024;
export const tagBytes = 16;
export const sealedPieceBytes = pieceBytes + tagBytes;
export const payloadNonceBytes = 16;
const textStep = 256;
/** More than header and nonce of a content ever have. */
export const contentHeadBytes = 2048;

/** How many pieces a content of this many bytes has; an empty one has one. */
export function pieceCount(plainLength: number): number {
  return Math.max(1, Math.ceil(plainLength / pieceBytes));
}

/** Bytes of the whole age file. */
export function sealedLength(prefixLength: number, plainLength: number): number {
  return prefixLength + plainLength + tagBytes * pieceCount(plainLength);
}

/** Bytes that are sealed: texts and seed phrases are padded, a file keeps its length. */
export function paddedLength(kind: "text" | "seed" | "file", size: number): number {
  return kind === "file" ? size : textStep * Math.max(1, Math.ceil(size / textStep));
}

/**
 * Bytes at most of a sealed content of so many plain bytes, whatever its kind: room for header,
 * nonce and the padding of a text.
 */
export function mostSealedBytes(plainLength: number): number {
  return sealedLength(contentHeadBytes, plainLength);
}

/** The other way: how many plain bytes surely fit into so many sealed ones; 0 when none do. */
export function plainBytesWithin(sealedBytes: number): number {
  const payload = sealedBytes - contentHeadBytes;
  return Math.max(0, payload - tagBytes * Math.ceil(payload / sealedPieceBytes));
}
