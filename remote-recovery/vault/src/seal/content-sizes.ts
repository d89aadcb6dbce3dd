/* Sizes of sealed contents: numbers alone, so that the page may ask too. */

/** Plain bytes of every piece but the last, and the tag behind each. */
export const pieceSize = 64 * 1024;
export const tagSize = 16;
export const sealedPieceSize = pieceSize + tagSize;
export const payloadNonceSize = 16;
const textPaddingBlock = 256;
/** More than header and nonce of a content ever have. */
export const contentHeadSize = 2048;

/** How many pieces a content of this many bytes has; an empty one has one. */
export function countPieces(plainLength: number): number {
  return Math.max(1, Math.ceil(plainLength / pieceSize));
}

/** Bytes of the whole age file. */
export function sealedLength(prefixLength: number, plainLength: number): number {
  return prefixLength + plainLength + tagSize * countPieces(plainLength);
}

/** Bytes that are sealed: texts and seed phrases are padded, a file keeps its length. */
export function paddedLength(kind: "text" | "seed" | "file", size: number): number {
  return kind === "file" ? size : textPaddingBlock * Math.max(1, Math.ceil(size / textPaddingBlock));
}

/**
 * Bytes at most of a sealed content of so many plain bytes, whatever its kind: room for header,
 * nonce and the padding of a text.
 */
export function maxSealedLength(plainLength: number): number {
  return sealedLength(contentHeadSize, plainLength);
}

/** The other way: how many plain bytes surely fit into so many sealed ones; 0 when none do. */
export function maxPlainLength(sealedSize: number): number {
  const payloadSize = sealedSize - contentHeadSize;
  return Math.max(0, payloadSize - tagSize * Math.ceil(payloadSize / sealedPieceSize));
}
