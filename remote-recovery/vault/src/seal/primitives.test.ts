import { contentKinds, Id } from "@relicario/shared/api";
import fc from "fast-check";

import { concatBytes, copyOf, equalBytes, encodeUint32LE, sha256, utf8, wipe, withWipedBytes } from "./bytes.ts";
import { encodeIdentity, isIdentity, isRecipient, deriveRecipient } from "./age.ts";
import { openContent, sealContent, padText, unpadText } from "./content.ts";
import { newId, formatTimestamp } from "./ids.ts";
import { assertCostsInRange } from "./kdf.ts";
import { serializeDocument, parseDocument } from "./document.ts";
import { z } from "zod";

const arbitraryBytes = (length: number): fc.Arbitrary<Uint8Array<ArrayBuffer>> =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((array) => copyOf(array));

describe("bytes", () => {
  it("can be joined and compared", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), (left, right) => {
        const joined = concatBytes(left, right);
        expect(Array.from(joined)).toEqual([...left, ...right]);
        expect(equalBytes(joined, concatBytes(left, right))).toBe(true);
        expect(equalBytes(left, right)).toBe(Buffer.from(left).equals(right));
        expect(sha256(left, right)).toEqual(sha256(joined));
      }),
    );
    expect(Array.from(encodeUint32LE(0x01020304))).toEqual([4, 3, 2, 1]);
  });

  it("are wiped after use, even after a failure", async () => {
    const [one, two, three] = [utf8("one"), utf8("two"), utf8("three")];
    wipe(one, null, undefined);
    await withWipedBytes(two, () => undefined);
    await expect(withWipedBytes(three, () => Promise.reject(new RangeError("x")))).rejects.toThrow(RangeError);
    for (const secret of [one, two, three]) expect(secret.every((byte) => byte === 0)).toBe(true);
  });
});

describe("newId", () => {
  it("generates UUIDs of version 7 that sort by time", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 48 - 2 }), (now) => {
        expect(Id.safeParse(newId(now)).success).toBe(true);
        expect(newId(now) < newId(now + 1)).toBe(true);
      }),
    );
    expect(new Set(Array.from({ length: 1000 }, () => newId(1))).size).toBe(1000);
    expect(formatTimestamp(0)).toBe("1970-01-01T00:00:00.000Z");
  });
});

describe("padding", () => {
  it("is removed exactly from a text", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1000 }), (text) => {
        const padded = padText(text);
        expect(padded.length % 256).toBe(0);
        expect(padded.length).toBeGreaterThan(0);
        expect(unpadText(padded, text.length)).toEqual(copyOf(text));
      }),
    );
  });

  it("rounds the length of a document up to 512 bytes", () => {
    const schema = z.strictObject({ v: z.literal(1), text: z.string() });
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 700 }), (text) => {
        const padded = serializeDocument({ v: 1, text });
        expect(padded.length % 512).toBe(0);
        expect(parseDocument(schema, padded)).toEqual({ v: 1, text });
      }),
    );
  });
});

describe("identities", () => {
  it("can be encoded from any 32 bytes", async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryBytes(32), async (seed) => {
        const identity = encodeIdentity(seed);
        expect(isIdentity(identity)).toBe(true);
        expect(isIdentity(identity.toLowerCase())).toBe(false);
        expect(isRecipient(await deriveRecipient(identity))).toBe(true);
      }),
      { numRuns: 10 },
    );
    expect(() => encodeIdentity(new Uint8Array(31))).toThrow(TypeError);
  });
});

describe("content", () => {
  it.each(contentKinds)("of kind %s opens to the same bytes", async (kind) => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 70_000 }), async (array) => {
        const plain = copyOf(array);
        const { sealed, ...opening } = await sealContent(kind, plain);
        expect(await openContent(kind, sealed, opening)).toEqual(plain);
      }),
      { numRuns: 5 },
    );
  });
});

describe("Argon2id costs read from stored data", () => {
  it.each([
    [18 * 1024, 3, 1],
    [257 * 1024, 3, 1],
    [64 * 1024, 1, 1],
    [64 * 1024, 11, 1],
    [64 * 1024, 3, 2],
    [64 * 1024, 3, 0],
  ])("are refused at %p KiB, %p passes, %p lanes", (memoryKib, passes, lanes) => {
    expect(() => assertCostsInRange({ memoryKib, passes, lanes })).toThrow("decryption_failed");
  });

  it.each([
    [19 * 1024, 2, 1],
    [256 * 1024, 10, 1],
  ])("are accepted at %p KiB, %p passes, %p lanes", (memoryKib, passes, lanes) => {
    expect(assertCostsInRange({ memoryKib, passes, lanes })).toEqual({ memoryKib, passes, lanes });
  });
});
