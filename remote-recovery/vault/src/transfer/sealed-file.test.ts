import { toBase64url } from "@relicario/shared/api";
import { Decrypter, Encrypter } from "age-encryption";
import fc from "fast-check";

import { generateIdentity, deriveRecipient } from "../seal/age.ts";
import { concatBytes, copyOf, randomBytes, sha256, type Bytes } from "../seal/bytes.ts";
import { openContent } from "../seal/content.ts";
import { contentHeadSize, chunkSize, sealedChunkSize } from "../seal/content-sizes.ts";
import { createContentSeal, openContentHead, createChunkNonce } from "../seal/content-stream.ts";
import { openChunks, createChunkCipher, type ChunkCipher } from "./chunk-cipher.ts";
import { createSealedFile } from "./sealed-file.ts";

const backends = ["browser", "libsodium"] as const;
const sizes = [0, 1, chunkSize - 1, chunkSize, chunkSize + 1, 3 * chunkSize, 5 * chunkSize + 77];

async function seal(plaintext: Bytes, backend: ChunkCipher["backend"]): Promise<{ sealed: Bytes; identity: string }> {
  const { identity, payloadKey, prefix } = await createContentSeal();
  const file = createSealedFile(new Blob([plaintext]), "file", prefix, await createChunkCipher(payloadKey, backend));
  return { sealed: await file.sealRange(0, file.length), identity };
}

async function open(sealed: Bytes, identity: string, backend: ChunkCipher["backend"]): Promise<Bytes> {
  const { payloadKey, prefixLength } = await openContentHead(identity, sealed.slice(0, contentHeadSize));
  return openChunks(
    await createChunkCipher(payloadKey, backend),
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

/** @param readLengths lengths of the stream's reads in bytes, repeated */
function makeStreamedFile(plaintext: Bytes, readLengths: readonly number[]): Blob {
  const stream = () => {
    let [offset, readIndex] = [0, 0];
    return new ReadableStream<Bytes>({
      pull: (controller) => {
        if (offset >= plaintext.length) {
          controller.close();
          return;
        }
        const length = readLengths[readIndex++ % readLengths.length] ?? 1;
        controller.enqueue(plaintext.slice(offset, offset + length));
        offset += length;
      },
    });
  };
  return Object.assign(new Blob([plaintext]), { slice: () => ({ stream }) });
}

describe.each(backends)("createSealedFile with %s", (backend) => {
  it.each(sizes)("seals %d bytes that typage opens", async (size) => {
    const plaintext = createRandomBytes(size);
    const { sealed, identity } = await seal(plaintext, backend);
    expect(computeHash(await openWithTypage(sealed, identity))).toBe(computeHash(plaintext));
  });

  it.each(sizes)("opens %d bytes that typage sealed", async (size) => {
    const plaintext = createRandomBytes(size);
    const identity = generateIdentity();
    const encrypter = new Encrypter();
    encrypter.addRecipient(await deriveRecipient(identity));
    expect(computeHash(await open(copyOf(await encrypter.encrypt(plaintext)), identity, backend))).toBe(
      computeHash(plaintext),
    );
  });

  it("seals to the same bytes in ranges of any length", async () => {
    const plaintext = createRandomBytes(2 * chunkSize + 1000);
    const { payloadKey, prefix } = await createContentSeal();
    const file = createSealedFile(new Blob([plaintext]), "file", prefix, await createChunkCipher(payloadKey, backend));
    const whole = await file.sealRange(0, file.length);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 1, max: file.length - 1 }), { maxLength: 6 }), async (cuts) => {
        const ends = [...cuts.sort((left, right) => left - right), file.length];
        const parts = await Promise.all(ends.map((end, index) => file.sealRange(ends[index - 1] ?? 0, end)));
        expect(computeHash(...parts)).toBe(computeHash(whole));
      }),
      { numRuns: 25 },
    );
  });

  it.each<[string, (chunks: Bytes[]) => Bytes[]]>([
    ["a file without its last chunk", (chunks) => chunks.slice(0, -1)],
    [
      "a file without its last byte",
      (chunks) => [...chunks.slice(0, -1), concatBytes(...chunks.slice(-1)).slice(0, -1)],
    ],
    [
      "a file with two swapped chunks",
      ([first, second, ...rest]) => [second, first, ...rest].filter((chunk) => chunk !== undefined),
    ],
    [
      "a file with a repeated chunk",
      ([first, ...rest]) => [first, first, ...rest].filter((chunk) => chunk !== undefined),
    ],
    ["a file with a chunk of another content appended", (chunks) => [...chunks, randomBytes(100)]],
    ["a file with an empty chunk appended", (chunks) => [...chunks, randomBytes(16)]],
    [
      "a file with a flipped bit",
      ([first, ...rest]) =>
        [first?.map((byte, index) => (index === 40_000 ? byte ^ 1 : byte)), ...rest].filter(
          (chunk) => chunk !== undefined,
        ),
    ],
  ])("does not open %s", async (_, change) => {
    const { sealed, identity } = await seal(createRandomBytes(2 * chunkSize + 500), backend);
    const { prefixLength } = await openContentHead(identity, sealed.slice(0, contentHeadSize));
    const chunks = [0, 1, 2].map((index) =>
      sealed.slice(prefixLength + index * sealedChunkSize, prefixLength + (index + 1) * sealedChunkSize),
    );
    const altered = concatBytes(sealed.slice(0, prefixLength), ...change(chunks));
    await expect(open(altered, identity, backend)).rejects.toMatchObject({ code: "decryption_failed" });
  });
});

describe("createSealedFile", () => {
  it("seals to the same bytes with both backends", async () => {
    const { payloadKey, prefix } = await createContentSeal();
    const plaintext = new Blob([createRandomBytes(chunkSize + 5)]);
    const [browserFile, sodiumFile] = await Promise.all(
      backends.map(async (backend) =>
        createSealedFile(plaintext, "file", prefix, await createChunkCipher(payloadKey, backend)),
      ),
    );
    expect(browserFile === undefined ? null : computeHash(await browserFile.sealRange(0, browserFile.length))).toBe(
      sodiumFile === undefined ? undefined : computeHash(await sodiumFile.sealRange(0, sodiumFile.length)),
    );
  });

  it("pads a large text as openContent expects", async () => {
    const { identity, payloadKey, prefix } = await createContentSeal();
    const text = new TextEncoder().encode("x".repeat(300_001));
    const file = createSealedFile(new Blob([text]), "text", prefix, await createChunkCipher(payloadKey));
    const sealed = await file.sealRange(0, file.length);
    expect(
      computeHash(await openContent("text", sealed, { sha256: computeHash(sealed), identity, size: text.length })),
    ).toBe(computeHash(text));
  });

  it("seals a file that is read in odd lengths", async () => {
    const plaintext = createRandomBytes(3 * chunkSize + 10);
    const { identity, payloadKey, prefix } = await createContentSeal();
    const oddFile = makeStreamedFile(plaintext, [1000, 70_000, 3, chunkSize + 1, chunkSize - 1]);
    const file = createSealedFile(oddFile, "file", prefix, await createChunkCipher(payloadKey));
    expect(computeHash(await openWithTypage(await file.sealRange(0, file.length), identity))).toBe(
      computeHash(plaintext),
    );
  });

  it("seals a chunk shared by two ranges once, even if the file changes between them", async () => {
    const plaintext = createRandomBytes(2 * chunkSize);
    const { identity, payloadKey, prefix } = await createContentSeal();
    let current = plaintext;
    const changingFile = Object.assign(new Blob([plaintext]), {
      slice: (start: number, end: number) => new Blob([current.slice(start, end)]),
    });
    const file = createSealedFile(changingFile, "file", prefix, await createChunkCipher(payloadKey));
    const half = prefix.length + chunkSize / 2;
    const firstHalf = copyOf(await file.sealRange(0, half));
    current = plaintext.map((byte) => byte ^ 1);
    await expect(
      openWithTypage(concatBytes(firstHalf, await file.sealRange(half, file.length)), identity),
    ).resolves.toHaveLength(plaintext.length);
  });

  it("throws file_changed if the file is shorter than its size", async () => {
    const { payloadKey, prefix } = await createContentSeal();
    const truncatedFile = Object.assign(new Blob([createRandomBytes(5000)]), {
      slice: () => new Blob([createRandomBytes(4999)]),
    });
    const file = createSealedFile(truncatedFile, "file", prefix, await createChunkCipher(payloadKey));
    await expect(file.sealRange(0, file.length)).rejects.toMatchObject({ code: "file_changed" });
  });

  it("throws file_changed if the file can no longer be read", async () => {
    const { payloadKey, prefix } = await createContentSeal();
    const unreadableFile = Object.assign(new Blob(["abc"]), {
      slice: () => ({
        stream: () =>
          new ReadableStream({
            start: (controller) => {
              controller.error(new DOMException("x", "NotReadableError"));
            },
          }),
      }),
    });
    const file = createSealedFile(unreadableFile, "file", prefix, await createChunkCipher(payloadKey));
    await expect(file.sealRange(0, file.length)).rejects.toMatchObject({ code: "file_changed" });
  });
});

describe("createContentSeal", () => {
  it("uses a new payload nonce for each content", async () => {
    const seals = await Promise.all([createContentSeal(), createContentSeal()]);
    expect(new Set(seals.map(({ prefix }) => toBase64url(prefix.slice(-16)))).size).toBe(2);
    for (const { prefix } of seals) expect(prefix.length).toBeLessThan(contentHeadSize);
  });
});

describe("openContentHead", () => {
  it("refuses a header for another identity, two stanzas and random bytes", async () => {
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

describe("createChunkNonce", () => {
  it("counts big-endian in 11 bytes, followed by the last-chunk flag", () => {
    expect([...createChunkNonce(0x1_0203_0405, true)]).toEqual([0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 1]);
  });
});

/** Computes a digest for comparisons, because Jest compares large arrays slowly. */
function computeHash(...parts: readonly Uint8Array[]): string {
  return toBase64url(sha256(...parts));
}

function createRandomBytes(size: number): Bytes {
  const bytes = new Uint8Array(size);
  for (let offset = 0; offset < size; offset += 65_536) crypto.getRandomValues(bytes.subarray(offset, offset + 65_536));
  return bytes;
}
