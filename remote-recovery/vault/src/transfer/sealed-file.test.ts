import { toB64u } from "@relicario/shared/api";
import { Decrypter, Encrypter } from "age-encryption";
import fc from "fast-check";

import { newIdentity, recipientOf } from "../seal/age.ts";
import { concat, copyOf, randomBytes, sha256, type Bytes } from "../seal/bytes.ts";
import { openContent } from "../seal/content.ts";
import { contentHeadBytes, pieceBytes, sealedPieceBytes } from "../seal/content-pieces.ts";
import { newContentSeal, openContentHead, pieceNonce } from "../seal/content-stream.ts";
import { openPieces, pieceCipher, type PieceCipher } from "./piece-cipher.ts";
import { sealedFile } from "./sealed-file.ts";

const ciphers = ["browser", "libsodium"] as const;
const sizes = [0, 1, pieceBytes - 1, pieceBytes, pieceBytes + 1, 3 * pieceBytes, 5 * pieceBytes + 77];

async function seal(plain: Bytes, by: PieceCipher["by"]): Promise<{ sealed: Bytes; identity: string }> {
  const { identity, payloadKey, prefix } = await newContentSeal();
  const file = sealedFile(new Blob([plain]), "file", prefix, await pieceCipher(payloadKey, by));
  return { sealed: await file.range(0, file.length), identity };
}

async function open(sealed: Bytes, identity: string, by: PieceCipher["by"]): Promise<Bytes> {
  const { payloadKey, prefixLength } = await openContentHead(identity, sealed.slice(0, contentHeadBytes));
  return openPieces(
    await pieceCipher(payloadKey, by),
    sealed.slice(prefixLength),
    0,
    true,
    new Uint8Array(sealed.length),
  );
}

async function typageOpens(sealed: Bytes, identity: string): Promise<Uint8Array> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return decrypter.decrypt(sealed);
}

/** A file whose stream gives pieces of these lengths, over and over. */
function readAs(plain: Bytes, lengths: readonly number[]): Blob {
  const stream = () => {
    let [at, turn] = [0, 0];
    return new ReadableStream<Bytes>({
      pull: (controller) => {
        if (at >= plain.length) {
          controller.close();
          return;
        }
        const length = lengths[turn++ % lengths.length] ?? 1;
        controller.enqueue(plain.slice(at, at + length));
        at += length;
      },
    });
  };
  return Object.assign(new Blob([plain]), { slice: () => ({ stream }) });
}

describe.each(ciphers)("the sealed file of %s", (by) => {
  it.each(sizes)("opens in typage, %d bytes", async (size) => {
    const plain = randomBytesOf(size);
    const { sealed, identity } = await seal(plain, by);
    expect(hash(await typageOpens(sealed, identity))).toBe(hash(plain));
  });

  it.each(sizes)("opens what typage seals, %d bytes", async (size) => {
    const plain = randomBytesOf(size);
    const identity = newIdentity();
    const encrypter = new Encrypter();
    encrypter.addRecipient(await recipientOf(identity));
    expect(hash(await open(copyOf(await encrypter.encrypt(plain)), identity, by))).toBe(hash(plain));
  });

  it("gives the same bytes for any cut into ranges", async () => {
    const plain = randomBytesOf(2 * pieceBytes + 1000);
    const { payloadKey, prefix } = await newContentSeal();
    const file = sealedFile(new Blob([plain]), "file", prefix, await pieceCipher(payloadKey, by));
    const whole = await file.range(0, file.length);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 1, max: file.length - 1 }), { maxLength: 6 }), async (cuts) => {
        const ends = [...cuts.sort((left, right) => left - right), file.length];
        const parts = await Promise.all(ends.map((end, index) => file.range(ends[index - 1] ?? 0, end)));
        expect(hash(...parts)).toBe(hash(whole));
      }),
      { numRuns: 25 },
    );
  });

  it.each<[string, (pieces: Bytes[]) => Bytes[]]>([
    ["cut short by its last piece", (pieces) => pieces.slice(0, -1)],
    ["cut short by a byte", (pieces) => [...pieces.slice(0, -1), concat(...pieces.slice(-1)).slice(0, -1)]],
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
    const { sealed, identity } = await seal(randomBytesOf(2 * pieceBytes + 500), by);
    const { prefixLength } = await openContentHead(identity, sealed.slice(0, contentHeadBytes));
    const pieces = [0, 1, 2].map((index) =>
      sealed.slice(prefixLength + index * sealedPieceBytes, prefixLength + (index + 1) * sealedPieceBytes),
    );
    const altered = concat(sealed.slice(0, prefixLength), ...change(pieces));
    await expect(open(altered, identity, by)).rejects.toMatchObject({ code: "decryption_failed" });
  });
});

describe("the sealed file", () => {
  it("is the same whoever seals its pieces", async () => {
    const { payloadKey, prefix } = await newContentSeal();
    const plain = new Blob([randomBytesOf(pieceBytes + 5)]);
    const [one, other] = await Promise.all(
      ciphers.map(async (by) => sealedFile(plain, "file", prefix, await pieceCipher(payloadKey, by))),
    );
    expect(one === undefined ? null : hash(await one.range(0, one.length))).toBe(
      other === undefined ? undefined : hash(await other.range(0, other.length)),
    );
  });

  it("pads a text as a small one is padded", async () => {
    const { identity, payloadKey, prefix } = await newContentSeal();
    const text = new TextEncoder().encode("x".repeat(300_001));
    const file = sealedFile(new Blob([text]), "text", prefix, await pieceCipher(payloadKey));
    const sealed = await file.range(0, file.length);
    expect(hash(await openContent("text", sealed, { sha256: hash(sealed), identity, size: text.length }))).toBe(
      hash(text),
    );
  });

  it("opens although the file is read in odd pieces", async () => {
    const plain = randomBytesOf(3 * pieceBytes + 10);
    const { identity, payloadKey, prefix } = await newContentSeal();
    const odd = readAs(plain, [1000, 70_000, 3, pieceBytes + 1, pieceBytes - 1]);
    const file = sealedFile(odd, "file", prefix, await pieceCipher(payloadKey));
    expect(hash(await typageOpens(await file.range(0, file.length), identity))).toBe(hash(plain));
  });

  it("opens although the file was written to between two ranges that share a piece", async () => {
    const plain = randomBytesOf(2 * pieceBytes);
    const { identity, payloadKey, prefix } = await newContentSeal();
    let now = plain;
    const changing = Object.assign(new Blob([plain]), {
      slice: (start: number, end: number) => new Blob([now.slice(start, end)]),
    });
    const file = sealedFile(changing, "file", prefix, await pieceCipher(payloadKey));
    const half = prefix.length + pieceBytes / 2;
    const first = copyOf(await file.range(0, half));
    now = plain.map((byte) => byte ^ 1);
    await expect(typageOpens(concat(first, await file.range(half, file.length)), identity)).resolves.toHaveLength(
      plain.length,
    );
  });

  it("says file_changed when fewer bytes are there than were announced", async () => {
    const { payloadKey, prefix } = await newContentSeal();
    const cut = Object.assign(new Blob([randomBytesOf(5000)]), { slice: () => new Blob([randomBytesOf(4999)]) });
    const file = sealedFile(cut, "file", prefix, await pieceCipher(payloadKey));
    await expect(file.range(0, file.length)).rejects.toMatchObject({ code: "file_changed" });
  });

  it("says file_changed when the file can no longer be read", async () => {
    const { payloadKey, prefix } = await newContentSeal();
    const gone = Object.assign(new Blob(["abc"]), {
      slice: () => ({
        stream: () =>
          new ReadableStream({
            start: (controller) => {
              controller.error(new DOMException("x", "NotReadableError"));
            },
          }),
      }),
    });
    const file = sealedFile(gone, "file", prefix, await pieceCipher(payloadKey));
    await expect(file.range(0, file.length)).rejects.toMatchObject({ code: "file_changed" });
  });
});

describe("newContentSeal", () => {
  it("never takes the payload nonce that typage made", async () => {
    const seals = await Promise.all([newContentSeal(), newContentSeal()]);
    expect(new Set(seals.map(({ prefix }) => toB64u(prefix.slice(-16)))).size).toBe(2);
    for (const { prefix } of seals) expect(prefix.length).toBeLessThan(contentHeadBytes);
  });
});

describe("openContentHead", () => {
  it("refuses a header of another identity, two stanzas, and what is no header", async () => {
    const { prefix } = await newContentSeal();
    await expect(openContentHead(newIdentity(), prefix)).rejects.toMatchObject({ code: "decryption_failed" });
    const [one, two] = [newIdentity(), newIdentity()];
    const encrypter = new Encrypter();
    for (const identity of [one, two]) encrypter.addRecipient(await recipientOf(identity));
    await expect(openContentHead(one, copyOf(await encrypter.encrypt("x")))).rejects.toMatchObject({
      code: "decryption_failed",
    });
    await expect(openContentHead(one, randomBytes(2000))).rejects.toMatchObject({ code: "decryption_failed" });
  });
});

describe("pieceNonce", () => {
  it("counts big-endian in 11 bytes, with the flag behind", () => {
    expect([...pieceNonce(0x1_0203_0405, true)]).toEqual([0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 1]);
  });
});

/** Digests are compared, not bytes: jest takes long over large arrays. */
function hash(...parts: readonly Uint8Array[]): string {
  return toB64u(sha256(...parts));
}

function randomBytesOf(size: number): Bytes {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
}
