import fc from "fast-check";

import { encodeCanonical, stringifyCanonical, parseCanonical, type Json } from "./canonical.ts";

const encodeUtf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("stringifyCanonical", () => {
  it("sorts members by UTF-16 code units and escapes as in RFC 8785", () => {
    expect(stringifyCanonical({ "€": 1, "\r": 2, "1": 3, "😂": 4, ö: 5, b: '\u000f\n"\\' })).toBe(
      '{"\\r":2,"1":3,"b":"\\u000f\\n\\"\\\\","ö":5,"€":1,"😂":4}',
    );
  });

  it.each([[1.5], [-1], [2 ** 53], [Number.NaN], [-0]])("refuses the number %p", (number) => {
    expect(() => stringifyCanonical({ number })).toThrow(TypeError);
  });

  it("refuses ill-formed Unicode in names and values", () => {
    expect(() => stringifyCanonical({ a: "\ud800" })).toThrow(TypeError);
    expect(() => stringifyCanonical({ "\udc00": 1 })).toThrow(TypeError);
  });
});

describe("parseCanonical", () => {
  it("parses the output of encodeCanonical, ignoring padding", () => {
    const json = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constant(null),
        fc.boolean(),
        fc.maxSafeNat(),
        fc.string({ unit: "grapheme" }),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(fc.string({ unit: "grapheme" }), tie("value"), { maxKeys: 4 }),
      ),
    })).value;
    fc.assert(
      fc.property(json, fc.nat(20), (value, padding) => {
        const padded = encodeUtf8(`${stringifyCanonical(value)}${" ".repeat(padding)}`);
        expect(parseCanonical(padded)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(encodeCanonical(value)).toEqual(encodeUtf8(stringifyCanonical(value)));
      }),
    );
  });

  it.each([
    '{"b":1,"a":2}',
    '{"a":1,"a":2}',
    '{"a": 1}',
    '{"a":1.0}',
    '{"a":-1}',
    " {}",
    "{}\n",
    "{",
    '{"a":"\\u0061"}',
    '{"a":"\\ud800"}',
    "\ufeff{}",
  ])("refuses %j", (text) => {
    expect(parseCanonical(encodeUtf8(text))).toBeNull();
  });

  it("refuses bytes that are not UTF-8", () => {
    expect(parseCanonical(Uint8Array.of(0x22, 0xff, 0x22))).toBeNull();
  });
});
