import { toBase64url } from "@relicario/shared/api";
import type { ContentKind } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { concatBytes, copyOf, sha256Async, randomBytes, type Bytes } from "../seal/bytes.ts";
import { contentHeadSize, paddedLength, pieceSize, sealedLength, sealedPieceSize } from "../seal/content-sizes.ts";
import { createContentSeal, openContentHead } from "../seal/content-stream.ts";
import { randomFile } from "../testing/uploading-tab.ts";
import { createPieceCipher } from "./piece-cipher.ts";
import { createResumableDigest } from "./resumable-digest.ts";
import { saveContent, type OpenableContent } from "./save-content.ts";
import { createSealedFile } from "./sealed-file.ts";
import type { Sink } from "./sinks.ts";
import type { RetryPolicy } from "./retry-until-success.ts";
import type { TransferCalls } from "./upload-calls.ts";

/** Two whole ranges and the beginning of a third. */
const size = 2 * 64 * pieceSize + 1000;

interface StoredContent {
  readonly sealed: Bytes;
  readonly identity: string;
  readonly plain: Bytes;
  readonly sha256: string;
}

async function storeContent(kind: ContentKind, { plain, file }: ReturnType<typeof randomFile>): Promise<StoredContent> {
  const { identity, payloadKey, prefix } = await createContentSeal();
  const source = createSealedFile(file, kind, prefix, await createPieceCipher(payloadKey));
  const sealed = await source.range(0, source.length);
  return { sealed, identity, plain, sha256: toBase64url(await sha256Async(sealed)) };
}

/** As the ticket says it; the head is what the service gave for it when the opener was shown. */
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

let stored: StoredContent;
let olderContent: StoredContent;
let content: OpenableContent;

beforeAll(async () => {
  stored = await storeContent("file", randomFile(size));
  olderContent = await storeContent("file", randomFile(size));
});

beforeEach(async () => {
  content = await toOpenableContent(stored);
});

const prefixLength = (): number => sealedLength(content.prefixLength, size) - sealedLength(0, size);
/** From the start of a range to that of the next. */
const rangeOffset = (index: number): number => prefixLength() + index * 64 * sealedPieceSize;

function flipBit(sealed: Bytes, offset: number): Bytes {
  const altered = copyOf(sealed);
  altered[offset] = (altered[offset] ?? 0) ^ 1;
  return altered;
}

describe("saveContent", () => {
  it("gives the content, and tells how far it is", async () => {
    const { sink, seen } = makeMemorySink();
    const progress: number[] = [];
    const blob = await saveContent(
      { calls: { range: serveRanges(stored.sealed) }, digest: createResumableDigest(), retryPolicy, sink },
      content,
      { ...defaultOptions, onProgress: (done) => progress.push(done) },
    );
    expect(toBase64url(await sha256Async(new Uint8Array((await blob?.arrayBuffer()) ?? new ArrayBuffer(0))))).toBe(
      toBase64url(await sha256Async(stored.plain)),
    );
    expect([seen.committed, seen.discarded, progress.length, progress[2]]).toEqual([1, 0, 3, stored.sealed.length]);
  });

  it.each([0, 1, pieceSize, 64 * pieceSize])("gives a content of %d bytes", async (length) => {
    const storedContent = await storeContent("file", randomFile(length));
    expect((await save(await toOpenableContent(storedContent), serveRanges(storedContent.sealed)))?.size).toBe(length);
  });

  it("takes the padding off a text", async () => {
    const text = await storeContent("text", randomFile(300_000));
    expect(text.sealed.length).toBe(
      sealedLength(text.sealed.length - sealedLength(0, paddedLength("text", 300_000)), paddedLength("text", 300_000)),
    );
    expect((await save(await toOpenableContent(text, "text"), serveRanges(text.sealed)))?.size).toBe(300_000);
  });

  it.each<[string, (sealed: Bytes, olderSealed: Bytes) => Bytes]>([
    ["an older version of it", (_sealed, olderSealed) => olderSealed],
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
      "two ranges exchanged",
      (sealed) =>
        concatBytes(
          sealed.slice(0, rangeOffset(0)),
          sealed.slice(rangeOffset(1), rangeOffset(2)),
          sealed.slice(rangeOffset(0), rangeOffset(1)),
          sealed.slice(rangeOffset(2)),
        ),
    ],
    [
      "a range twice",
      (sealed) =>
        concatBytes(
          sealed.slice(0, rangeOffset(1)),
          sealed.slice(rangeOffset(0), rangeOffset(1)),
          sealed.slice(rangeOffset(2)),
        ),
    ],
    [
      "two pieces of a range exchanged",
      (sealed) =>
        concatBytes(
          sealed.slice(0, rangeOffset(0)),
          sealed.slice(rangeOffset(0) + sealedPieceSize, rangeOffset(0) + 2 * sealedPieceSize),
          sealed.slice(rangeOffset(0), rangeOffset(0) + sealedPieceSize),
          sealed.slice(rangeOffset(0) + 2 * sealedPieceSize),
        ),
    ],
    ["one cut short by a byte", (sealed) => sealed.slice(0, -1)],
    ["one cut short by its last range", (sealed) => sealed.slice(0, rangeOffset(2))],
    ["one with a byte more", (sealed) => concatBytes(sealed, randomBytes(1))],
    ["one with a piece more", (sealed) => concatBytes(sealed, randomBytes(sealedPieceSize % 65_536))],
    ["one bit turned in the first range", (sealed) => flipBit(sealed, rangeOffset(0) + 5)],
    ["one bit turned in the last byte", (sealed) => flipBit(sealed, sealed.length - 1)],
    ["another header behind the one that was opened", (sealed) => flipBit(sealed, 30)],
    ["another payload nonce behind the one that was opened", (sealed) => flipBit(sealed, prefixLength() - 1)],
  ])("refuses %s: nothing is left", async (_case, tamper) => {
    const { sink, seen } = makeMemorySink();
    await expect(
      save(content, serveRanges(tamper(stored.sealed, olderContent.sealed)), { sink }),
    ).rejects.toMatchObject({
      code: "decryption_failed",
    });
    expect(seen).toEqual({ committed: 0, discarded: 1 });
  });

  it.each<[string, TransferCalls["range"]]>([
    [
      "less than it was asked for",
      async (_content, start, end) => ({ bytes: stored.sealed.slice(start, end - 1), size: stored.sealed.length }),
    ],
    [
      "more than it was asked for",
      async (_content, start, end) => ({
        bytes: concatBytes(stored.sealed.slice(start, end), randomBytes(1)),
        size: stored.sealed.length,
      }),
    ],
    [
      "another size of the whole in the middle",
      async (_content, start, end) => ({
        bytes: stored.sealed.slice(start, end),
        size: stored.sealed.length + (start > 0 ? 1 : 0),
      }),
    ],
    [
      "the ranges one place further",
      async (_content, start, end) => ({ bytes: stored.sealed.slice(start + 1, end + 1), size: stored.sealed.length }),
    ],
  ])("refuses a service that gives %s", async (_case, range) => {
    await expect(save(content, range)).rejects.toMatchObject({ code: "decryption_failed" });
  });

  it("refuses what opens but has not the ticket's digest, at the last byte", async () => {
    const { sink, seen } = makeMemorySink();
    await expect(
      save({ ...content, sha256: toBase64url(randomBytes(32)) }, serveRanges(stored.sealed), { sink }),
    ).rejects.toMatchObject({ code: "decryption_failed" });
    expect(seen).toEqual({ committed: 0, discarded: 1 });
  });

  it.each(["offline", "service_unavailable", "internal_error"] as const)(
    "goes on after %s in the middle: only that range is asked for again",
    async (code) => {
      const requestedStarts: number[] = [];
      let failures = 0;
      const blob = await save(content, (location, start, end) => {
        requestedStarts.push(start);
        if (start === rangeOffset(1) && ++failures <= 3) return Promise.reject(new PortalError(code));
        return serveRanges(stored.sealed)(location, start, end);
      });
      expect(blob?.size).toBe(size);
      expect(requestedStarts.filter((start) => start === rangeOffset(1))).toHaveLength(4);
      expect(requestedStarts).toHaveLength(3 + 3);
    },
  );

  it("ends when it is cancelled, and leaves nothing", async () => {
    const { sink, seen } = makeMemorySink();
    const controller = new AbortController();
    const range: TransferCalls["range"] = (location, start, end) => {
      if (start > rangeOffset(1)) controller.abort();
      return controller.signal.aborted
        ? Promise.reject(new PortalError("cancelled"))
        : serveRanges(stored.sealed)(location, start, end);
    };
    await expect(save(content, range, { sink, signal: controller.signal })).rejects.toMatchObject({
      code: "cancelled",
    });
    expect(seen).toEqual({ committed: 0, discarded: 1 });
  });

  it("says that the disk is full, even when the private file cannot be removed either", async () => {
    let writes = 0;
    const sink: Sink = {
      write: async () => {
        if (++writes > 1) throw new PortalError("storage_full");
      },
      commit: () => Promise.reject(new Error("never")),
      discard: () => Promise.reject(new Error("busy")),
    };
    await expect(save(content, serveRanges(stored.sealed), { sink })).rejects.toMatchObject({ code: "storage_full" });
  });
});
