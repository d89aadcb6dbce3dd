import fc from "fast-check";

import { base64urlBytes, compactJwe, Counter, fromBase64url, Id, plainText, Timestamp, toBase64url } from "./wire.ts";

describe("base64urlBytes", () => {
  it("accepts the output of toBase64url, which decodes to the same bytes", () => {
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

  it("accepts only canonical text, like fromBase64url", () => {
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
  it("accepts only a UUIDv7", () => {
    expect(Id.safeParse("019a9e2c-7c1e-7abc-8def-0123456789ab").success).toBe(true);
    expect(Id.safeParse("019a9e2c-7c1e-4abc-8def-0123456789ab").success).toBe(false);
    expect(Id.safeParse("019A9E2C-7C1E-7ABC-8DEF-0123456789AB").success).toBe(false);
  });
});

describe("Timestamp", () => {
  it("requires UTC and milliseconds", () => {
    expect(Timestamp.safeParse("2026-11-21T10:04:05.678Z").success).toBe(true);
    expect(Timestamp.safeParse("2026-11-21T10:04:05Z").success).toBe(false);
    expect(Timestamp.safeParse("2026-11-21T10:04:05.678+01:00").success).toBe(false);
  });

  it.each(["1970-01-01T00:00:00.000Z", "2000-02-29T23:59:59.999Z", "2999-12-31T23:59:59.999Z"])(
    "accepts %s, which Date formats in the same way",
    (time) => {
      expect(Timestamp.parse(new Date(time).toISOString())).toBe(time);
    },
  );

  it.each([
    ...["0000-01-01", "0050-01-01", "0099-12-31", "0100-01-01", "1969-12-31", "3000-01-01", "9999-12-31"],
    ...["+010000-01-01", "-000001-01-01", "2026-02-30", "2025-02-29", "2026-13-01"],
  ])("refuses the day %s", (day) => {
    expect(Timestamp.safeParse(`${day}T00:00:00.000Z`).success).toBe(false);
  });
});

describe("Counter", () => {
  it.each([
    [1, true],
    [2 ** 31 - 1, true],
    [2 ** 31, false],
    [2 ** 53 - 1, false],
    [0, false],
    [1.5, false],
  ])("%d: %s", (value, accepted) => {
    expect(Counter.safeParse(value).success).toBe(accepted);
  });
});

describe("plainText", () => {
  it("accepts any text up to the maximum length, and returns it unchanged", () => {
    for (const text of ["", " a\n\t", "\u{1f600}", "\u202e", "e\u0301", "\u0001"])
      expect(plainText(5).parse(text)).toBe(text);
  });

  it.each(["\0", "a\0", "\ud800", "\udc00a", "123456"])("refuses %j", (text) => {
    expect(plainText(5).safeParse(text).success).toBe(false);
  });
});

describe("compactJwe", () => {
  it("refuses a JWE with a wrapped key, and text that is too long", () => {
    expect(compactJwe(100).safeParse("aa..bb.cc.dd").success).toBe(true);
    expect(compactJwe(100).safeParse("aa.kk.bb.cc.dd").success).toBe(false);
    expect(compactJwe(10).safeParse("aa..bb.cc.dd").success).toBe(false);
  });
});
