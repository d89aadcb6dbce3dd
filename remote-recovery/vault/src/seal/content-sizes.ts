/* Sizes of sealed contents. This file has only numbers, so that the page can use it too. */

import type { ContentKind } from "@relicario/shared/contract";

/** Plain bytes in every chunk but the last, and bytes of the tag after each chunk. */
export const chunkSize = 64 * 1024;
export const tagSize = 16;
export const sealedChunkSize = chunkSize + tagSize;
export const payloadNonceSize = 16;
const textPaddingBlock = 256;
/** Upper limit for the length of a content's header and nonce. */
export const contentHeadSize = 2048;

/** Number of chunks in a content of this length; an empty content has one. */
export function countChunks(plainLength: number): number {
  return Math.max(1, Math.ceil(plainLength / chunkSize));
}

export function computeSealedLength(prefixLength: number, plainLength: number): number {
  return prefixLength + plainLength + tagSize * countChunks(plainLength);
}

/** Number of bytes to seal: a file keeps its length, every other kind is padded. */
export function computePaddedLength(kind: ContentKind, size: number): number {
  return kind === "file" ? size : textPaddingBlock * Math.max(1, Math.ceil(size / textPaddingBlock));
}

/** Maximum length of a sealed content of any kind, with header, nonce and text padding. */
export function computeMaxSealedLength(plainLength: number): number {
  return computeSealedLength(contentHeadSize, plainLength);
}

/** Number of plain bytes that always fit into this many sealed bytes; 0 if none do. */
export function computeMaxPlainLength(sealedSize: number): number {
  const payloadSize = sealedSize - contentHeadSize;
  return Math.max(0, payloadSize - tagSize * Math.ceil(payloadSize / sealedChunkSize));
}
