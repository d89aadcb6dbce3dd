import { toBase64url } from "@relicario/shared/api";
import { Decrypter, Encrypter } from "age-encryption";
import fc from "fast-check";

import { generateIdentity, deriveRecipient } from "../seal/age.ts";
import { concatBytes, copyOf, randomBytes, sha256, type Bytes } from "../seal/bytes.ts";
import { openContent } from "../seal/content.ts";
import { contentHeadSize, pieceSize, sealedPieceSize } from "../seal/content-sizes.ts";
import { createContentSeal, openContentHead, createPieceNonce } from "../seal/content-stream.ts";
import { openPieces, createPieceCipher, type PieceCipher } from "./piece-cipher.ts";
import { createSealedFile } from "./sealed-file.ts";

const ciphers = ["browser", "libsodium"] as const;
const sizes = [0, 1, pieceSize - 1, pieceSize, pieceSize + 1, 3 * pieceSize, 5 * pieceSize + 77];

async function seal(plain: Bytes, backend: PieceCipher["backend"]): Promise<{ sealed: Bytes; identity: string }> {
  const { identity, payloadKey, prefix } = await createContentSeal();
  const file = createSealedFile(new Blob([plain]), "file", prefix, await createPieceCipher(payloadKey, backend));
  return { sealed: await file.range(0, file.length), identity };
}

async function open(sealed: Bytes, identity: string, backend: PieceCipher["backend"]): Promise<Bytes> {
  const { payloadKey, prefixLength } = await openContentHead(identity, sealed.slice(0, contentHeadSize));
  return openPieces(
    await createPieceCipher(payloadKey, backend),
    sealed.slice(prefixLength),
    0,
    true,
    new Uint8Array(sealed.length),
  );
}

async function openWithTypage(sealed: Bytes, identity: string): Promise<Uint8Array> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return decrypter.decrypt(sealed);
}

/** A file whose stream gives pieces of these lengths, over and over. */
function withStreamChunks(plain: Bytes, lengths: readonly number[]): Blob {
  const stream = () => {
    let [offset, chunkIndex] = [0, 0];
    return new ReadableStream<Bytes>({
      pull: (controller) => {
        if (offset >= plain.length) {
          controller.close();
          return;
        }
        const length = lengths[chunkIndex++ % lengths.length] ?? 1;
        controller.enqueue(plain.slice(offset, offset + length));
        offset += length;
      },
    });
  };
  return Object.assign(new Blob([plain]), { slice: () => ({ stream }) });
}

describe.each(ciphers)("the sealed file of %s", (backend) => {
  it.each(sizes)("opens in typage, %d bytes", async (size) => {
    const plain = createRandomBytes(size);
    const { sealed, identity } = await seal(plain, backend);
    expect(computeHash(await openWithTypage(sealed, identity))).toBe(computeHash(plain));
  });

  it.each(sizes)("opens what typage seals, %d bytes", async (size) => {
    const plain = createRandomBytes(size);
    const identity = generateIdentity();
    const encrypter = new Encrypter();
    encrypter.addRecipient(await deriveRecipient(identity));
    expect(computeHash(await open(copyOf(await encrypter.encrypt(plain)), identity, backend))).toBe(computeHash(plain));
  });

  it("gives the same bytes for any cut into ranges", async () => {
    const plain = createRandomBytes(2 * pieceSize + 1000);
    const { payloadKey, prefix } = await createContentSeal();
    const file = createSealedFile(new Blob([plain]), "file", prefix, await createPieceCipher(payloadKey, backend));
    const whole = await file.range(0, file.length);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 1, max: file.length - 1 }), { maxLength: 6 }), async (cuts) => {
        const ends = [...cuts.sort((left, right) => left - right), file.length];
        const parts = await Promise.all(ends.map((end, index) => file.range(ends[index - 1] ?? 0, end)));
        expect(computeHash(...parts)).toBe(computeHash(whole));
      }),
      { numRuns: 25 },
    );
  });

  it.each<[string, (pieces: Bytes[]) => Bytes[]]>([
    ["cut short by its last piece", (pieces) => pieces.slice(0, -1)],
    ["cut short by a byte", (pieces) => [...pieces.slice(0, -1), concatBytes(...pieces.slice(-1)).slice(0, -1)]],
    [
      "with two pieces exchanged",
      ([first, second, ...rest]) => [second, first, ...rest].filter((piece) => piece !== undefined),
    ],
    ["with a piece twice", ([first, ...rest]) => [first, first, ...rest].filter((piece) => piece !== undefined)],
    ["with a piece of another content behind it", (pieces) => [...pieces, randomBytes(100)]],
    ["with an empty piece behind it", (pieces) => [...pieces, randomBytes(16)]],
    [
      "with one bit turned",
      ([first, ...rest]) =>
        [first?.map((byte, index) => (index === 40_000 ? byte ^ 1 : byte)), ...rest].filter(
          (piece) => piece !== undefined,
        ),
    ],
  ])("does not open %s", async (_, change) => {
    const { sealed, identity } = await seal(createRandomBytes(2 * pieceSize + 500), backend);
    const { prefixLength } = await openContentHead(identity, sealed.slice(0, contentHeadSize));
    const pieces = [0, 1, 2].map((index) =>
      sealed.slice(prefixLength + index * sealedPieceSize, prefixLength + (index + 1) * sealedPieceSize),
    );
    const altered = concatBytes(sealed.slice(0, prefixLength), ...change(pieces));
    await expect(open(altered, identity, backend)).rejects.toMatchObject({ code: "decryption_failed" });
  });
});

describe("the sealed file", () => {
  it("is the same whoever seals its pieces", async () => {
    const { payloadKey, prefix } = await createContentSeal();
    const plain = new Blob([createRandomBytes(pieceSize + 5)]);
    const [browserFile, sodiumFile] = await Promise.all(
      ciphers.map(async (backend) =>
        createSealedFile(plain, "file", prefix, await createPieceCipher(payloadKey, backend)),
      ),
    );
    expect(browserFile === undefined ? null : computeHash(await browserFile.range(0, browserFile.length))).toBe(
      sodiumFile === undefined ? undefined : computeHash(await sodiumFile.range(0, sodiumFile.length)),
    );
  });

  it("pads a text as a small one is padded", async () => {
    const { identity, payloadKey, prefix } = await createContentSeal();
    const text = new TextEncoder().encode("x".repeat(300_001));
    const file = createSealedFile(new Blob([text]), "text", prefix, await createPieceCipher(payloadKey));
    const sealed = await file.range(0, file.length);
    expect(
      computeHash(await openContent("text", sealed, { sha256: computeHash(sealed), identity, size: text.length })),
    ).toBe(computeHash(text));
  });

  it("opens although the file is read in odd pieces", async () => {
    const plain = createRandomBytes(3 * pieceSize + 10);
    const { identity, payloadKey, prefix } = await createContentSeal();
    const odd = withStreamChunks(plain, [1000, 70_000, 3, pieceSize + 1, pieceSize - 1]);
    const file = createSealedFile(odd, "file", prefix, await createPieceCipher(payloadKey));
    expect(computeHash(await openWithTypage(await file.range(0, file.length), identity))).toBe(computeHash(plain));
  });

  it("opens although the file was written to between two ranges that share a piece", async () => {
    const plain = createRandomBytes(2 * pieceSize);
    const { identity, payloadKey, prefix } = await createContentSeal();
    let current = plain;
    const changing = Object.assign(new Blob([plain]), {
      slice: (start: number, end: number) => new Blob([current.slice(start, end)]),
    });
    const file = createSealedFile(changing, "file", prefix, await createPieceCipher(payloadKey));
    const half = prefix.length + pieceSize / 2;
    const firstHalf = copyOf(await file.range(0, half));
    current = plain.map((byte) => byte ^ 1);
    await expect(
      openWithTypage(concatBytes(firstHalf, await file.range(half, file.length)), identity),
    ).resolves.toHaveLength(plain.length);
  });

  it("says file_changed when fewer bytes are there than were announced", async () => {
    const { payloadKey, prefix } = await createContentSeal();
    const truncated = Object.assign(new Blob([createRandomBytes(5000)]), {
      slice: () => new Blob([createRandomBytes(4999)]),
    });
    const file = createSealedFile(truncated, "file", prefix, await createPieceCipher(payloadKey));
    await expect(file.range(0, file.length)).rejects.toMatchObject({ code: "file_changed" });
  });

  it("says file_changed when the file can no longer be read", async () => {
    const { payloadKey, prefix } = await createContentSeal();
    const unreadable = Object.assign(new Blob(["abc"]), {
      slice: () => ({
        stream: () =>
          new ReadableStream({
            start: (controller) => {
              controller.error(new DOMException("x", "NotReadableError"));
            },
          }),
      }),
    });
    const file = createSealedFile(unreadable, "file", prefix, await createPieceCipher(payloadKey));
    await expect(file.range(0, file.length)).rejects.toMatchObject({ code: "file_changed" });
  });
});

describe("newContentSeal", () => {
  it("never takes the payload nonce that typage made", async () => {
    const seals = await Promise.all([createContentSeal(), createContentSeal()]);
    expect(new Set(seals.map(({ prefix }) => toBase64url(prefix.slice(-16)))).size).toBe(2);
    for (const { prefix } of seals) expect(prefix.length).toBeLessThan(contentHeadSize);
  });
});

describe("openContentHead", () => {
  it("refuses a header of another identity, two stanzas, and what is no header", async () => {
    const { prefix } = await createContentSeal();
    await expect(openContentHead(generateIdentity(), prefix)).rejects.toMatchObject({ code: "decryption_failed" });
    const [firstIdentity, secondIdentity] = [generateIdentity(), generateIdentity()];
    const encrypter = new Encrypter();
    for (const identity of [firstIdentity, secondIdentity]) encrypter.addRecipient(await deriveRecipient(identity));
    await expect(openContentHead(firstIdentity, copyOf(await encrypter.encrypt("x")))).rejects.toMatchObject({
      code: "decryption_failed",
    });
    await expect(openContentHead(firstIdentity, randomBytes(2000))).rejects.toMatchObject({
      code: "decryption_failed",
    });
  });
});

describe("pieceNonce", () => {
  it("counts big-endian in 11 bytes, with the flag behind", () => {
    expect([...createPieceNonce(0x1_0203_0405, true)]).toEqual([0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 1]);
  });
});

/** Digests are compared, not bytes: jest takes long over large arrays. */
function computeHash(...parts: readonly Uint8Array[]): string {
  return toBase64url(sha256(...parts));
}

function createRandomBytes(size: number): Bytes {
  const bytes = new Uint8Array(size);
  for (let offset = 0; offset < size; offset += 65_536) crypto.getRandomValues(bytes.subarray(offset, offset + 65_536));
  return bytes;
}
