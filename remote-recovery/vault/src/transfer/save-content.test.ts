import { toBase64url } from "@relicario/shared/api";
import type { ContentKind } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { concatBytes, copyOf, sha256Async, randomBytes, type Bytes } from "../seal/bytes.ts";
import {
  contentHeadSize,
  computePaddedLength,
  chunkSize,
  computeSealedLength,
  sealedChunkSize,
} from "../seal/content-sizes.ts";
import { createContentSeal, openContentHead } from "../seal/content-stream.ts";
import { randomFile } from "../testing/uploading-tab.ts";
import { createChunkCipher } from "./chunk-cipher.ts";
import { createResumableDigest } from "./resumable-digest.ts";
import { saveContent, type OpenableContent } from "./save-content.ts";
import { createSealedFile } from "./sealed-file.ts";
import type { Sink } from "./sinks.ts";
import type { RetryPolicy } from "./retry-until-success.ts";
import type { TransferCalls } from "./upload-calls.ts";

/** Two whole ranges and the beginning of a third. */
const size = 2 * 64 * chunkSize + 1000;

interface StoredContent {
  readonly sealed: Bytes;
  readonly identity: string;
  readonly plain: Bytes;
  readonly sha256: string;
}

async function storeContent(
  kind: ContentKind,
  { plaintext, file }: ReturnType<typeof randomFile>,
): Promise<StoredContent> {
  const { identity, payloadKey, prefix } = await createContentSeal();
  const source = createSealedFile(file, kind, prefix, await createChunkCipher(payloadKey));
  const sealed = await source.sealRange(0, source.length);
  return { sealed, identity, plain: plaintext, sha256: toBase64url(await sha256Async(sealed)) };
}

/** Creates the key from the ticket and the content's head, as sent by the service. */
async function toOpenableContent(
  { sealed, identity, plain, sha256 }: StoredContent,
  kind: ContentKind = "file",
): Promise<OpenableContent> {
  return {
    secretId: "one",
    version: 2,
    kind,
    size: plain.length,
    sha256,
    ...(await openContentHead(identity, sealed.slice(0, contentHeadSize))),
  };
}

function makeMemorySink() {
  const written: Bytes[] = [];
  const counts = { committed: 0, discarded: 0 };
  const sink: Sink = {
    write: async (bytes) => void written.push(copyOf(bytes)),
    commit: async () => {
      counts.committed++;
      return new Blob(written);
    },
    discard: async () => {
      counts.discarded++;
    },
  };
  return { sink, seen: counts };
}

const serveRanges =
  (sealed: Bytes): TransferCalls["range"] =>
  async (_content, start, end) => ({ bytes: sealed.slice(start, end), size: sealed.length });
const retryPolicy: RetryPolicy = { wait: () => Promise.resolve() };
const defaultOptions = { signal: new AbortController().signal, onProgress: (): void => undefined };

async function save(
  content: OpenableContent,
  range: TransferCalls["range"],
  overrides: Partial<{ sink: Sink; signal: AbortSignal }> = {},
): Promise<Blob | null> {
  return saveContent(
    { calls: { range }, digest: createResumableDigest(), retryPolicy, sink: overrides.sink ?? makeMemorySink().sink },
    content,
    { ...defaultOptions, ...overrides },
  );
}

let newerContent: StoredContent;
let olderContent: StoredContent;
let content: OpenableContent;

beforeAll(async () => {
  newerContent = await storeContent("file", randomFile(size));
  olderContent = await storeContent("file", randomFile(size));
});

beforeEach(async () => {
  content = await toOpenableContent(newerContent);
});

const prefixLength = (): number => computeSealedLength(content.prefixLength, size) - computeSealedLength(0, size);
const rangeOffset = (index: number): number => prefixLength() + index * 64 * sealedChunkSize;

function flipBit(sealed: Bytes, offset: number): Bytes {
  const altered = copyOf(sealed);
  altered[offset] = (altered[offset] ?? 0) ^ 1;
  return altered;
}

describe("saveContent", () => {
  it("writes the content and reports progress", async () => {
    const { sink, seen } = makeMemorySink();
    const progress: number[] = [];
    const blob = await saveContent(
      { calls: { range: serveRanges(newerContent.sealed) }, digest: createResumableDigest(), retryPolicy, sink },
      content,
      { ...defaultOptions, onProgress: (done) => progress.push(done) },
    );
    expect(toBase64url(await sha256Async(new Uint8Array(await blob.arrayBuffer())))).toBe(
      toBase64url(await sha256Async(newerContent.plain)),
    );
    expect([seen.committed, seen.discarded, progress.length, progress[2]]).toEqual([
      1,
      0,
      3,
      newerContent.sealed.length,
    ]);
  });

  it.each([0, 1, chunkSize, 64 * chunkSize])("writes a content of %d bytes", async (length) => {
    const storedContent = await storeContent("file", randomFile(length));
    expect((await save(await toOpenableContent(storedContent), serveRanges(storedContent.sealed)))?.size).toBe(length);
  });

  it("removes the padding of a text", async () => {
    const text = await storeContent("text", randomFile(300_000));
    expect(text.sealed.length).toBe(
      computeSealedLength(
        text.sealed.length - computeSealedLength(0, computePaddedLength("text", 300_000)),
        computePaddedLength("text", 300_000),
      ),
    );
    expect((await save(await toOpenableContent(text, "text"), serveRanges(text.sealed)))?.size).toBe(300_000);
  });

  it.each<[string, (sealed: Bytes, olderSealed: Bytes) => Bytes]>([
    ["an older version", (_sealed, olderSealed) => olderSealed],
    [
      "a range of an older version",
      (sealed, olderSealed) =>
        concatBytes(
          sealed.slice(0, rangeOffset(1)),
          olderSealed.slice(rangeOffset(1), rangeOffset(2)),
          sealed.slice(rangeOffset(2)),
        ),
    ],
    [
      "two swapped ranges",
      (sealed) =>
        concatBytes(
          sealed.slice(0, rangeOffset(0)),
          sealed.slice(rangeOffset(1), rangeOffset(2)),
          sealed.slice(rangeOffset(0), rangeOffset(1)),
          sealed.slice(rangeOffset(2)),
        ),
    ],
    [
      "a repeated range",
      (sealed) =>
        concatBytes(
          sealed.slice(0, rangeOffset(1)),
          sealed.slice(rangeOffset(0), rangeOffset(1)),
          sealed.slice(rangeOffset(2)),
        ),
    ],
    [
      "two swapped chunks of a range",
      (sealed) =>
        concatBytes(
          sealed.slice(0, rangeOffset(0)),
          sealed.slice(rangeOffset(0) + sealedChunkSize, rangeOffset(0) + 2 * sealedChunkSize),
          sealed.slice(rangeOffset(0), rangeOffset(0) + sealedChunkSize),
          sealed.slice(rangeOffset(0) + 2 * sealedChunkSize),
        ),
    ],
    ["a content without its last byte", (sealed) => sealed.slice(0, -1)],
    ["a content without its last range", (sealed) => sealed.slice(0, rangeOffset(2))],
    ["a content with an extra byte", (sealed) => concatBytes(sealed, randomBytes(1))],
    ["a content with an extra chunk", (sealed) => concatBytes(sealed, randomBytes(sealedChunkSize % 65_536))],
    ["a flipped bit in the first range", (sealed) => flipBit(sealed, rangeOffset(0) + 5)],
    ["a flipped bit in the last byte", (sealed) => flipBit(sealed, sealed.length - 1)],
    ["a header that changed after it was opened", (sealed) => flipBit(sealed, 30)],
    ["a payload nonce that changed after the header was opened", (sealed) => flipBit(sealed, prefixLength() - 1)],
  ])("refuses %s and discards the written bytes", async (_case, tamper) => {
    const { sink, seen } = makeMemorySink();
    await expect(
      save(content, serveRanges(tamper(newerContent.sealed, olderContent.sealed)), { sink }),
    ).rejects.toMatchObject({
      code: "decryption_failed",
    });
    expect(seen).toEqual({ committed: 0, discarded: 1 });
  });

  it.each<[string, TransferCalls["range"]]>([
    [
      "fewer bytes than requested",
      async (_content, start, end) => ({
        bytes: newerContent.sealed.slice(start, end - 1),
        size: newerContent.sealed.length,
      }),
    ],
    [
      "more bytes than requested",
      async (_content, start, end) => ({
        bytes: concatBytes(newerContent.sealed.slice(start, end), randomBytes(1)),
        size: newerContent.sealed.length,
      }),
    ],
    [
      "another total size for a later range",
      async (_content, start, end) => ({
        bytes: newerContent.sealed.slice(start, end),
        size: newerContent.sealed.length + (start > 0 ? 1 : 0),
      }),
    ],
    [
      "ranges shifted by one byte",
      async (_content, start, end) => ({
        bytes: newerContent.sealed.slice(start + 1, end + 1),
        size: newerContent.sealed.length,
      }),
    ],
  ])("refuses %s from the service", async (_case, range) => {
    await expect(save(content, range)).rejects.toMatchObject({ code: "decryption_failed" });
  });

  it("refuses a content without the ticket's digest although every chunk opens", async () => {
    const { sink, seen } = makeMemorySink();
    await expect(
      save({ ...content, sha256: toBase64url(randomBytes(32)) }, serveRanges(newerContent.sealed), { sink }),
    ).rejects.toMatchObject({ code: "decryption_failed" });
    expect(seen).toEqual({ committed: 0, discarded: 1 });
  });

  it.each(["offline", "service_unavailable", "internal_error"] as const)(
    "fetches only the failed range again after %s",
    async (code) => {
      const requestedStarts: number[] = [];
      let failures = 0;
      const blob = await save(content, (location, start, end) => {
        requestedStarts.push(start);
        if (start === rangeOffset(1) && ++failures <= 3) return Promise.reject(new PortalError(code));
        return serveRanges(newerContent.sealed)(location, start, end);
      });
      expect(blob?.size).toBe(size);
      expect(requestedStarts.filter((start) => start === rangeOffset(1))).toHaveLength(4);
      expect(requestedStarts).toHaveLength(3 + 3);
    },
  );

  it("discards the written bytes when cancelled", async () => {
    const { sink, seen } = makeMemorySink();
    const controller = new AbortController();
    const range: TransferCalls["range"] = (location, start, end) => {
      if (start > rangeOffset(1)) controller.abort();
      return controller.signal.aborted
        ? Promise.reject(new PortalError("cancelled"))
        : serveRanges(newerContent.sealed)(location, start, end);
    };
    await expect(save(content, range, { sink, signal: controller.signal })).rejects.toMatchObject({
      code: "cancelled",
    });
    expect(seen).toEqual({ committed: 0, discarded: 1 });
  });

  it("throws storage_full even if the private file cannot be removed", async () => {
    let writes = 0;
    const sink: Sink = {
      write: async () => {
        if (++writes > 1) throw new PortalError("storage_full");
      },
      commit: () => Promise.reject(new Error("never")),
      discard: () => Promise.reject(new Error("busy")),
    };
    await expect(save(content, serveRanges(newerContent.sealed), { sink })).rejects.toMatchObject({
      code: "storage_full",
    });
  });
});
