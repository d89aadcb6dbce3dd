import { BlobReader, configure, ZipReader, type FileEntry } from "@zip.js/zip.js/index-native.js";

import { maxEntries, maxUnpackedBytes } from "./limits.ts";
import { Refused } from "./refused.ts";

configure({ useWebWorkers: false }); // this is one

/** The files of an archive, by name. Names lead nowhere: nothing is written under them. */
export interface Archive {
  readonly names: readonly string[];
  /** Null when there is none. @throws Refused `too_large`, `damaged`. */
  readonly read: (name: string, most: number) => Promise<Uint8Array<ArrayBuffer> | null>;
  /**
   * A file that is stored as it is, as a part of the archive: it unpacks to nothing, and nothing of
   * it is read. Null when there is none, or it is packed. All of them together are never more than
   * the archive. @throws Refused `damaged`.
   */
  readonly stored: (name: string) => Promise<Blob | null>;
}

/**
 * Bytes before the name in the header that stands before the bytes of a file, and what it begins
 * with.
 */
const [headerBytes, headerSignature] = [30, 0x04034b50];

/** @throws Refused `damaged`, `encrypted`, `too_large`. */
export async function openZip(file: Blob): Promise<Archive> {
  const files = new Map<string, FileEntry>();
  try {
    for await (const entry of new ZipReader(new BlobReader(file)).getEntriesGenerator()) {
      if (files.size >= maxEntries) throw new Refused("too_large");
      if (entry.encrypted) throw new Refused("encrypted");
      if (!entry.directory) files.set(entry.filename, entry);
    }
  } catch (cause) {
    throw cause instanceof Refused ? cause : new Refused("damaged", { cause });
  }
  let [unpacked, given] = [0, 0];
  return {
    names: [...files.keys()],
    read: async (name, most) => {
      const entry = files.get(name);
      if (entry === undefined) return null;
      const controller = new AbortController();
      if (entry.uncompressedSize > most) throw new Refused("too_large");
      // The size that an archive says is its own word: what comes is counted, too.
      const counted = new Counted(Math.min(most, maxUnpackedBytes - unpacked), () => {
        controller.abort();
      });
      try {
        await entry.getData(counted.stream, { signal: controller.signal, checkCrc32: true });
      } catch (cause) {
        throw counted.isOver ? new Refused("too_large", { cause }) : new Refused("damaged", { cause });
      }
      unpacked += counted.size;
      return counted.bytes();
    },
    stored: async (name) => {
      const entry = files.get(name);
      if (entry?.compressionMethod !== 0) return null;
      const { offset, compressedSize, uncompressedSize } = entry;
      const header = new DataView(await file.slice(offset, offset + headerBytes).arrayBuffer());
      if (header.byteLength < headerBytes || header.getUint32(0, true) !== headerSignature)
        throw new Refused("damaged");
      const start = offset + headerBytes + header.getUint16(26, true) + header.getUint16(28, true);
      given += compressedSize;
      // Entries that lie over each other would be more together than there is.
      if (compressedSize !== uncompressedSize || start + compressedSize > file.size || given > file.size)
        throw new Refused("damaged");
      return file.slice(start, start + compressedSize);
    },
  };
}

/** Takes bytes up to a limit. */
class Counted {
  readonly stream: WritableStream<Uint8Array>;
  size = 0;
  isOver = false;
  readonly #pieces: Uint8Array[] = [];

  constructor(most: number, onOver: () => void) {
    this.stream = new WritableStream({
      write: (piece) => {
        this.size += piece.length;
        if (this.size > most) {
          this.isOver = true;
          onOver();
          throw new Refused("too_large");
        }
        this.#pieces.push(piece);
      },
    });
  }

  bytes(): Uint8Array<ArrayBuffer> {
    const whole = new Uint8Array(this.size);
    let at = 0;
    for (const piece of this.#pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  }
}
