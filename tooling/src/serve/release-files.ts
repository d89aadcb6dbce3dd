import { hash } from "node:crypto";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

import { LRUCache } from "lru-cache";
import { request } from "undici";

import { maxReleaseFileBytes } from "./limits.ts";
import { openPool } from "./pool.ts";

type ContentCoding = "br" | "gzip";

interface ReleaseFile {
  readonly bytes: Buffer;
  readonly coding: ContentCoding | null;
}

interface RequestedFile {
  readonly path: string;
  readonly integrity: string;
  readonly coding: string | null;
}

/** Reads files of releases, and compares each with its signed hash. */
export interface ReleaseFileReader {
  /**
   * Reads a file in the requested coding, or uncoded if the server has no such form. Calls at
   * the same moment share one fetch. Verified files stay in memory, the last used the longest.
   *
   * @throws Error when there is no such file, or its bytes are not those that were signed
   */
  readonly read: (file: RequestedFile) => Promise<ReleaseFile>;
  readonly close: () => Promise<void>;
}

/** Enough for two releases of the vault in both codings. */
const maxCachedBytes = 32 * 1024 ** 2;
const decoders = { br: brotliDecompressSync, gzip: gunzipSync } as const;

/**
 * Creates a reader that verifies hashes itself, because browsers verify those of scripts but not of
 * workers: the static server of a remote must not choose what runs at the vault's origin.
 */
export function createReleaseFileReader(address: string): ReleaseFileReader {
  const pool = openPool({ connections: 16, timeoutMs: 10_000 });

  const fetchVerified = async ({ path, integrity, coding }: RequestedFile): Promise<ReleaseFile> => {
    const { statusCode, headers, body } = await request(`${address}/${path}`, {
      dispatcher: pool,
      headers: { "accept-encoding": coding ?? "identity" },
    });
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxReleaseFileBytes) throw new ReleaseFileError("TOO_LARGE");
      chunks.push(chunk);
    }
    if (statusCode !== 200) throw new ReleaseFileError(`STATUS_${String(statusCode)}`);
    const bytes = Buffer.concat(chunks);
    const usedCoding = parseCoding(headers["content-encoding"]);
    const decoded = usedCoding === null ? bytes : decoders[usedCoding](bytes, { maxOutputLength: maxReleaseFileBytes });
    if (`sha384-${hash("sha384", decoded, "base64")}` !== integrity) throw new ReleaseFileError("INTEGRITY");
    return { bytes, coding: usedCoding };
  };

  const cache = new LRUCache<string, ReleaseFile, RequestedFile>({
    maxSize: maxCachedBytes,
    sizeCalculation: ({ bytes }) => Math.max(bytes.length, 1),
    fetchMethod: (_key, _stale, { context }) => fetchVerified(context),
    ignoreFetchAbort: true, // evicted while others wait for it
  });

  return {
    read: (file) => cache.forceFetch(`${file.integrity} ${file.coding ?? ""}`, { context: file }),
    close: () => pool.destroy(),
  };
}

class ReleaseFileError extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

function parseCoding(header: string | readonly string[] | undefined): ContentCoding | null {
  if (header === undefined || header === "identity") return null;
  if (header === "br" || header === "gzip") return header;
  throw new ReleaseFileError("CONTENT_ENCODING");
}
