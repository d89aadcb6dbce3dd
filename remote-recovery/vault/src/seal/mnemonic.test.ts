import { entropyToMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import fc from "fast-check";

import { copyOf } from "./bytes.ts";
import { encodeDigestAsWords, parseMnemonic } from "./mnemonic.ts";

const parse = (input: string) => parseMnemonic(input, 12, "device_code_unreadable");
const errorOf = (input: string): unknown => {
  try {
    return parse(input);
  } catch (error) {
    return error;
  }
};
const errorWithDetails = (details: unknown): unknown =>
  expect.objectContaining({ code: "device_code_unreadable", details });

describe("encodeDigestAsWords", () => {
  it("encodes 11 bits as each word", () => {
    expect(encodeDigestAsWords(new Uint8Array(32))).toEqual(Array<string>(8).fill("abandon"));
    expect(encodeDigestAsWords(new Uint8Array(32).fill(255))).toEqual(Array<string>(8).fill("zoo"));
  });
});

describe("parseMnemonic", () => {
  it("accepts words or their numbers, and ignores numbers next to words", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (array) => {
        const seed = copyOf(array);
        const words = entropyToMnemonic(seed, wordlist).split(" ");
        const numbers = words.map((word) => wordlist.indexOf(word) + 1);
        for (const input of [
          words.join(" "),
          words.join(", ").toUpperCase(),
          numbers.join(" "),
          words.map((word, index) => `${word} ${String(numbers[index])}`).join("\n"),
        ])
          expect(parse(input)).toEqual(seed);
      }),
      { numRuns: 50 },
    );
  });

  it("refuses numbers beyond the list, other word counts, and wrong checksums", () => {
    expect(errorOf("1 2 3 4 5 6 7 8 9 10 0 2049")).toEqual(errorWithDetails({ unknown: ["11", "12"] }));
    expect(errorOf("1 2 3")).toEqual(errorWithDetails({ words: 3 }));
    expect(errorOf("1 ".repeat(12))).toEqual(errorWithDetails({}));
  });
});
