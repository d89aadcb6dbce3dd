import { toB64u } from "@relicario/shared/api";
import type { ContentKind } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { concat, copyOf, digestOf, randomBytes, type Bytes } from "../seal/bytes.ts";
import { contentHeadBytes, paddedLength, pieceBytes, sealedLength, sealedPieceBytes } from "../seal/content-pieces.ts";
import { newContentSeal, openContentHead } from "../seal/content-stream.ts";
import { randomFile } from "../testing/uploading.ts";
import { pieceCipher } from "./piece-cipher.ts";
import { createRunningDigest } from "./running-digest.ts";
import { saveContent, type OpenableContent } from "./save-content.ts";
import { sealedFile } from "./sealed-file.ts";
import type { Sink } from "./sinks.ts";
import type { Patience } from "./until-through.ts";
import type { TransferCalls } from "./upload-calls.ts";

/** Two whole ranges and the beginning of a third. */
const size = 2 * 64 * pieceBytes + 1000;

interface Stored {
  readonly sealed: Bytes;
  readonly identity: string;
  readonly plain: Bytes;
  readonly sha256: string;
}

async function store(kind: ContentKind, { plain, file }: ReturnType<typeof randomFile>): Promise<Stored> {
  const { identity, payloadKey, prefix } = await newContentSeal();
  const whole = sealedFile(file, kind, prefix, await pieceCipher(payloadKey));
  const sealed = await whole.range(0, whole.length);
  return { sealed, identity, plain, sha256: toB64u(await digestOf(sealed)) };
}

/** As the ticket says it; the head is what the service gave for it when the opener was shown. */
async function ticketOf(
  { sealed, identity, plain, sha256 }: Stored,
  kind: ContentKind = "file",
): Promise<OpenableContent> {
  return {
    secretId: "one",
    version: 2,
    kind,
    size: plain.length,
    sha256,
    ...(await openContentHead(identity, sealed.slice(0, contentHeadBytes))),
  };
}

function memorySink() {
  const written: Bytes[] = [];
  const seen = { committed: 0, discarded: 0 };
  const sink: Sink = {
    write: async (bytes) => void written.push(copyOf(bytes)),
    commit: async () => {
      seen.committed++;
      return new Blob(written);
    },
    discard: async () => {
      seen.discarded++;
    },
  };
  return { sink, seen };
}

const rangesOf =
  (sealed: Bytes): TransferCalls["range"] =>
  async (_content, start, end) => ({ bytes: sealed.slice(start, end), size: sealed.length });
const patience: Patience = { wait: () => Promise.resolve() };
const quiet = { signal: new AbortController().signal, onProgress: (): void => undefined };

async function save(
  content: OpenableContent,
  range: TransferCalls["range"],
  more: Partial<{ sink: Sink; signal: AbortSignal }> = {},
): Promise<Blob | null> {
  return saveContent(
    { calls: { range }, digest: createRunningDigest(), patience, sink: more.sink ?? memorySink().sink },
    content,
    { ...quiet, ...more },
  );
}

let stored: Stored;
let older: Stored;
let content: OpenableContent;

beforeAll(async () => {
  stored = await store("file", randomFile(size));
  older = await store("file", randomFile(size));
});

beforeEach(async () => {
  content = await ticketOf(stored);
});

const prefixLength = (): number => sealedLength(content.prefixLength, size) - sealedLength(0, size);
/** From the start of a range to that of the next. */
const rangeAt = (index: number): number => prefixLength() + index * 64 * sealedPieceBytes;

function flipped(sealed: Bytes, at: number): Bytes {
  const altered = copyOf(sealed);
  altered[at] = (altered[at] ?? 0) ^ 1;
  return altered;
}

describe("saveContent", () => {
  it("gives the content, and tells how far it is", async () => {
    const { sink, seen } = memorySink();
    const told: number[] = [];
    const blob = await saveContent(
      { calls: { range: rangesOf(stored.sealed) }, digest: createRunningDigest(), patience, sink },
      content,
      { ...quiet, onProgress: (done) => told.push(done) },
    );
    expect(toB64u(await digestOf(new Uint8Array((await blob?.arrayBuffer()) ?? new ArrayBuffer(0))))).toBe(
      toB64u(await digestOf(stored.plain)),
    );
    expect([seen.committed, seen.discarded, told.length, told[2]]).toEqual([1, 0, 3, stored.sealed.length]);
  });

  it.each([0, 1, pieceBytes, 64 * pieceBytes])("gives a content of %d bytes", async (length) => {
    const one = await store("file", randomFile(length));
    expect((await save(await ticketOf(one), rangesOf(one.sealed)))?.size).toBe(length);
  });

  it("takes the padding off a text", async () => {
    const text = await store("text", randomFile(300_000));
    expect(text.sealed.length).toBe(
      sealedLength(text.sealed.length - sealedLength(0, paddedLength("text", 300_000)), paddedLength("text", 300_000)),
    );
    expect((await save(await ticketOf(text, "text"), rangesOf(text.sealed)))?.size).toBe(300_000);
  });

  it.each<[string, (sealed: Bytes, from: Bytes) => Bytes]>([
    ["an older version of it", (_sealed, before) => before],
    [
      "a range of an older version",
      (sealed, before) =>
        concat(sealed.slice(0, rangeAt(1)), before.slice(rangeAt(1), rangeAt(2)), sealed.slice(rangeAt(2))),
    ],
    [
      "two ranges exchanged",
      (sealed) =>
        concat(
          sealed.slice(0, rangeAt(0)),
          sealed.slice(rangeAt(1), rangeAt(2)),
          sealed.slice(rangeAt(0), rangeAt(1)),
          sealed.slice(rangeAt(2)),
        ),
    ],
    [
      "a range twice",
      (sealed) => concat(sealed.slice(0, rangeAt(1)), sealed.slice(rangeAt(0), rangeAt(1)), sealed.slice(rangeAt(2))),
    ],
    [
      "two pieces of a range exchanged",
      (sealed) =>
        concat(
          sealed.slice(0, rangeAt(0)),
          sealed.slice(rangeAt(0) + sealedPieceBytes, rangeAt(0) + 2 * sealedPieceBytes),
          sealed.slice(rangeAt(0), rangeAt(0) + sealedPieceBytes),
          sealed.slice(rangeAt(0) + 2 * sealedPieceBytes),
        ),
    ],
    ["one cut short by a byte", (sealed) => sealed.slice(0, -1)],
    ["one cut short by its last range", (sealed) => sealed.slice(0, rangeAt(2))],
    ["one with a byte more", (sealed) => concat(sealed, randomBytes(1))],
    ["one with a piece more", (sealed) => concat(sealed, randomBytes(sealedPieceBytes % 65_536))],
    ["one bit turned in the first range", (sealed) => flipped(sealed, rangeAt(0) + 5)],
    ["one bit turned in the last byte", (sealed) => flipped(sealed, sealed.length - 1)],
    ["another header behind the one that was opened", (sealed) => flipped(sealed, 30)],
    ["another payload nonce behind the one that was opened", (sealed) => flipped(sealed, prefixLength() - 1)],
  ])("refuses %s: nothing is left", async (_what, tamper) => {
    const { sink, seen } = memorySink();
    await expect(save(content, rangesOf(tamper(stored.sealed, older.sealed)), { sink })).rejects.toMatchObject({
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
        bytes: concat(stored.sealed.slice(start, end), randomBytes(1)),
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
  ])("refuses a service that gives %s", async (_what, range) => {
    await expect(save(content, range)).rejects.toMatchObject({ code: "decryption_failed" });
  });

  it("refuses what opens but has not the ticket's digest, at the last byte", async () => {
    const { sink, seen } = memorySink();
    await expect(
      save({ ...content, sha256: toB64u(randomBytes(32)) }, rangesOf(stored.sealed), { sink }),
    ).rejects.toMatchObject({ code: "decryption_failed" });
    expect(seen).toEqual({ committed: 0, discarded: 1 });
  });

  it.each(["offline", "service_unavailable", "internal_error"] as const)(
    "goes on after %s in the middle: only that range is asked for again",
    async (code) => {
      const asked: number[] = [];
      let broken = 0;
      const blob = await save(content, (which, start, end) => {
        asked.push(start);
        if (start === rangeAt(1) && ++broken <= 3) return Promise.reject(new PortalError(code));
        return rangesOf(stored.sealed)(which, start, end);
      });
      expect(blob?.size).toBe(size);
      expect(asked.filter((start) => start === rangeAt(1))).toHaveLength(4);
      expect(asked).toHaveLength(3 + 3);
    },
  );

  it("ends when it is cancelled, and leaves nothing", async () => {
    const { sink, seen } = memorySink();
    const cancelled = new AbortController();
    const range: TransferCalls["range"] = (which, start, end) => {
      if (start > rangeAt(1)) cancelled.abort();
      return cancelled.signal.aborted
        ? Promise.reject(new PortalError("cancelled"))
        : rangesOf(stored.sealed)(which, start, end);
    };
    await expect(save(content, range, { sink, signal: cancelled.signal })).rejects.toMatchObject({ code: "cancelled" });
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
    await expect(save(content, rangesOf(stored.sealed), { sink })).rejects.toMatchObject({ code: "storage_full" });
  });
});
