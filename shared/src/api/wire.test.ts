import fc from "fast-check";

import { base64urlBytes, compactJwe, fromBase64url, Id, Timestamp, toBase64url } from "./wire.ts";

describe("bytesB64u", () => {
  it("accepts what toB64u makes and gives the same bytes back", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 100 }), (bytes) => {
        const text = base64urlBytes(100).parse(toBase64url(bytes));
        expect(Array.from(fromBase64url(text))).toEqual(Array.from(bytes));
      }),
    );
  });

  it.each(["", "AA==", "A", "AB", "a+b/", "A A", "*"])("refuses %j", (text) => {
    expect(base64urlBytes(64).safeParse(text).success).toBe(false);
  });

  it("and fromB64u take what encodes to the same text again, and nothing else", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[AQgwEIMUYckosw048BZ9=+ _-]{1,9}\n?$/), (text) => {
        const isCanonical = Buffer.from(text, "base64url").toString("base64url") === text;
        expect(base64urlBytes(64).safeParse(text).success).toBe(isCanonical);
        if (isCanonical) expect(toBase64url(fromBase64url(text))).toBe(text);
        else expect(() => fromBase64url(text)).toThrow();
      }),
      { numRuns: 2_000 },
    );
  });

  it("refuses another length when the length is exact", () => {
    const three = base64urlBytes(3, { exact: true });
    expect(three.safeParse("AAAA").success).toBe(true);
    expect(three.safeParse("AAA").success).toBe(false);
    expect(three.safeParse("AAAAAA").success).toBe(false);
  });
});

describe("Id", () => {
  it("accepts a UUIDv7 only", () => {
    expect(Id.safeParse("019a9e2c-7c1e-7abc-8def-0123456789ab").success).toBe(true);
    expect(Id.safeParse("019a9e2c-7c1e-4abc-8def-0123456789ab").success).toBe(false);
    expect(Id.safeParse("019A9E2C-7C1E-7ABC-8DEF-0123456789AB").success).toBe(false);
  });
});

describe("Timestamp", () => {
  it("wants UTC and milliseconds", () => {
    expect(Timestamp.safeParse("2026-11-21T10:04:05.678Z").success).toBe(true);
    expect(Timestamp.safeParse("2026-11-21T10:04:05Z").success).toBe(false);
    expect(Timestamp.safeParse("2026-11-21T10:04:05.678+01:00").success).toBe(false);
  });
});

describe("compactJwe", () => {
  it("refuses a wrapped key and anything longer than allowed", () => {
    expect(compactJwe(100).safeParse("aa..bb.cc.dd").success).toBe(true);
    expect(compactJwe(100).safeParse("aa.kk.bb.cc.dd").success).toBe(false);
    expect(compactJwe(10).safeParse("aa..bb.cc.dd").success).toBe(false);
  });
});
