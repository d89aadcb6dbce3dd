import type { ContentKind } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { copyOf, freeBuffers, type Bytes } from "../seal/bytes.ts";
import {
  computePaddedLength,
  chunkSize,
  countChunks,
  computeSealedLength,
  sealedChunkSize,
} from "../seal/content-sizes.ts";
import { ChunkPool, type ChunkCipher } from "./chunk-cipher.ts";

/** The age file of a file, sealed by ranges; deterministic for an unchanged file. */
export interface SealedFile {
  /** Length of the age file in bytes. */
  readonly length: number;
  /**
   * Seals bytes from `start` to before `end`, as a view on a new buffer that may be longer. Throws
   * `file_changed` if the file has changed or can no longer be read.
   */
  readonly sealRange: (start: number, end: number) => Promise<Bytes>;
  /**
   * Whether a range from `start` certainly continues the last one: it shares no chunk with the last
   * one, or that chunk is still stored.
   */
  readonly continuesAt: (start: number) => boolean;
}

/** @param file plaintext; a text is padded here */
export function createSealedFile(file: Blob, kind: ContentKind, prefix: Uint8Array, cipher: ChunkCipher): SealedFile {
  const plainLength = computePaddedLength(kind, file.size);
  const paddedFile = plainLength === file.size ? file : new Blob([file, "\n".repeat(plainLength - file.size)]);
  const length = computeSealedLength(prefix.length, plainLength);
  const chunkTotal = countChunks(plainLength);
  /**
   * Stored so that a chunk shared by two ranges is sealed once; otherwise, a change of the file
   * between them would break the chunk.
   */
  let boundaryChunk: { readonly index: number; readonly sealed: Bytes } | null = null;

  return {
    length,
    sealRange: async (start, end) => {
      if (end <= prefix.length) return copyOf(prefix.subarray(start, end));
      const firstChunkIndex = Math.floor(Math.max(0, start - prefix.length) / sealedChunkSize);
      const endChunkIndex = Math.min(chunkTotal, Math.ceil((end - prefix.length) / sealedChunkSize));
      // offset of the first output byte in the age file
      const outputStart = start < prefix.length ? 0 : prefix.length + firstChunkIndex * sealedChunkSize;
      const output = new Uint8Array(
        computeSealedLength(prefix.length, Math.min(plainLength, endChunkIndex * chunkSize)) - outputStart,
      );
      if (outputStart === 0) output.set(prefix);
      const getOutputOffset = (index: number): number => prefix.length + index * sealedChunkSize - outputStart;
      const pool = new ChunkPool();
      const sealChunk = async (chunk: Bytes, index: number): Promise<void> => {
        const sealed = await cipher.seal(chunk, index, index === chunkTotal - 1);
        output.set(sealed, getOutputOffset(index));
        freeBuffers(sealed);
      };
      let index = firstChunkIndex;
      if (boundaryChunk?.index === firstChunkIndex) output.set(boundaryChunk.sealed, getOutputOffset(index++));
      if (index < endChunkIndex)
        for await (const chunk of readPlainChunks(
          paddedFile,
          index * chunkSize,
          Math.min(plainLength, endChunkIndex * chunkSize),
        ))
          await pool.add(sealChunk(chunk, index++));
      await pool.drain();
      boundaryChunk =
        end - outputStart < output.length
          ? { index: endChunkIndex - 1, sealed: output.slice(getOutputOffset(endChunkIndex - 1)) }
          : null;
      return output.subarray(start - outputStart, end - outputStart);
    },
    continuesAt: (start) => {
      const payloadOffset = start - prefix.length;
      return (
        payloadOffset <= 0 ||
        payloadOffset % sealedChunkSize === 0 ||
        boundaryChunk?.index === Math.floor(payloadOffset / sealedChunkSize)
      );
    },
  };
}

/**
 * Yields chunks of 64 KiB from `start` to before `end`; the last may be shorter, and an empty range
 * yields an empty chunk. Each chunk overwrites the previous one. Streams the file, because a
 * separate read for each chunk takes longer than sealing it.
 */
async function* readPlainChunks(file: Blob, start: number, end: number): AsyncGenerator<Bytes, void> {
  const chunk = new Uint8Array(chunkSize);
  let [filled, totalRead] = [0, 0];
  const reader = file.slice(start, end).stream().getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw new PortalError("file_changed", { cause }); // moved, deleted or changed since it was chosen
      });
      if (done) break;
      totalRead += value.length;
      for (let offset = 0; offset < value.length;) {
        const copyLength = Math.min(chunkSize - filled, value.length - offset);
        chunk.set(value.subarray(offset, offset + copyLength), filled);
        [offset, filled] = [offset + copyLength, filled + copyLength];
        if (filled < chunkSize) break;
        yield chunk;
        filled = 0;
      }
      freeBuffers(value);
    }
  } finally {
    await reader.cancel().catch(() => undefined); // only the first failure is thrown
  }
  if (totalRead !== end - start) throw new PortalError("file_changed");
  if (filled > 0 || end === start) yield chunk.subarray(0, filled);
}

/** Removes a text's padding after checking it. @throws PortalError `decryption_failed` */
export function stripPadding(lastChunk: Bytes, padding: number): Bytes {
  const size = lastChunk.length - padding;
  if (size < 0 || !lastChunk.subarray(size).every((byte) => byte === 0x0a)) throw new PortalError("decryption_failed");
  return padding === 0 ? lastChunk : copyOf(lastChunk.subarray(0, size));
}
