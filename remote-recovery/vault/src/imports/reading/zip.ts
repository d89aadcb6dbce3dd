import { BlobReader, configure, ZipReader, type FileEntry } from "@zip.js/zip.js/index-native.js";

import { maxEntries, maxUnpackedBytes } from "./limits.ts";
import { ImportRefusedError } from "./import-refused-error.ts";

configure({ useWebWorkers: false }); // the importer already runs in a worker

/** The files of an archive by name. Names are only keys: no file is written under them. */
export interface Archive {
  readonly names: readonly string[];
  /**
   * Null if the file is missing.
   * @throws ImportRefusedError `too_large`, `damaged`
   */
  readonly read: (name: string, maxBytes: number) => Promise<Uint8Array<ArrayBuffer> | null>;
  /**
   * Returns an uncompressed file as a part of the archive, without reading it. Null if the file is
   * missing or compressed. All parts together never exceed the archive.
   * @throws ImportRefusedError `damaged`
   */
  readonly getStoredFile: (name: string) => Promise<Blob | null>;
}

/** Size of the local file header before the name, in bytes, and the header's signature. */
const [headerSize, headerSignature] = [30, 0x04034b50];

/** @throws ImportRefusedError `damaged`, `encrypted`, `too_large` */
export async function openZip(file: Blob): Promise<Archive> {
  const files = new Map<string, FileEntry>();
  try {
    for await (const entry of new ZipReader(new BlobReader(file)).getEntriesGenerator()) {
      if (files.size >= maxEntries) throw new ImportRefusedError("too_large");
      if (entry.encrypted) throw new ImportRefusedError("encrypted");
      if (!entry.directory) files.set(entry.filename.replaceAll("\\", "/"), entry); // as Windows wrote them
    }
  } catch (cause) {
    throw cause instanceof ImportRefusedError ? cause : new ImportRefusedError("damaged", { cause });
  }
  let [unpackedTotal, storedTotal] = [0, 0];
  return {
    names: [...files.keys()],
    read: async (name, maxBytes) => {
      const entry = files.get(name);
      if (entry === undefined) return null;
      const controller = new AbortController();
      if (entry.uncompressedSize > maxBytes) throw new ImportRefusedError("too_large");
      // The archive's stated size may be false, so the unpacked bytes are counted too.
      const sink = new LimitedSink(Math.min(maxBytes, maxUnpackedBytes - unpackedTotal), () => {
        controller.abort();
      });
      try {
        await entry.getData(sink.stream, { signal: controller.signal, checkCrc32: true });
      } catch (cause) {
        throw sink.isExceeded
          ? new ImportRefusedError("too_large", { cause })
          : new ImportRefusedError("damaged", { cause });
      }
      unpackedTotal += sink.size;
      return sink.toBytes();
    },
    getStoredFile: async (name) => {
      const entry = files.get(name);
      if (entry?.compressionMethod !== 0) return null;
      const { offset, compressedSize, uncompressedSize } = entry;
      const header = new DataView(await file.slice(offset, offset + headerSize).arrayBuffer());
      if (header.byteLength < headerSize || header.getUint32(0, true) !== headerSignature)
        throw new ImportRefusedError("damaged");
      const start = offset + headerSize + header.getUint16(26, true) + header.getUint16(28, true);
      storedTotal += compressedSize;
      // Overlapping entries could together exceed the archive.
      if (compressedSize !== uncompressedSize || start + compressedSize > file.size || storedTotal > file.size)
        throw new ImportRefusedError("damaged");
      return file.slice(start, start + compressedSize);
    },
  };
}

/** Collects bytes up to a limit. */
class LimitedSink {
  readonly stream: WritableStream<Uint8Array>;
  size = 0;
  isExceeded = false;
  readonly #chunks: Uint8Array[] = [];

  constructor(maxBytes: number, onExceeded: () => void) {
    this.stream = new WritableStream({
      write: (chunk) => {
        this.size += chunk.length;
        if (this.size > maxBytes) {
          this.isExceeded = true;
          onExceeded();
          throw new ImportRefusedError("too_large");
        }
        this.#chunks.push(chunk);
      },
    });
  }

  toBytes(): Uint8Array<ArrayBuffer> {
    const result = new Uint8Array(this.size);
    let offset = 0;
    for (const chunk of this.#chunks) {
      result.set(chunk, offset);
      offset += chunk.length;
    }
    return result;
  }
}
