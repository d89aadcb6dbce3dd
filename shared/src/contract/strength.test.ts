import { requiredStrength } from "./strength-level.ts";
import { estimateStrength, pickRandomWord, proposePassphrase } from "./strength.ts";

describe("estimateStrength", () => {
  it.each([
    ["", 0],
    [" ", 0],
    ["a", 0],
    ["password", 0],
    ["contraseña", 1],
    ["nine stones", 3],
    ["mi secreto azul", 4],
  ])("gives %j the same level in every language of the portal", async (passphrase, level) => {
    expect(await estimateStrength(passphrase)).toBe(level);
  });
});

describe("proposePassphrase", () => {
  it("draws five words of EFF's long list: 64.6 bits", async () => {
    const proposals = await Promise.all(Array.from({ length: 20 }, proposePassphrase));
    expect(new Set(proposals).size).toBe(20);
    for (const proposal of proposals) {
      expect(proposal.split(" ")).toHaveLength(5);
      expect(await estimateStrength(proposal)).toBeGreaterThanOrEqual(requiredStrength);
    }
    const { dictionary } = await import("@zxcvbn-ts/language-common");
    const words = dictionary["diceware-common"];
    expect([words.length, new Set(words).size, words[0], words.at(-1)]).toEqual([7_776, 7_776, "abacus", "zoom"]);
  });
});

describe("pickRandomWord", () => {
  it("draws again if a number is beyond the last whole multiple of the list's length", () => {
    const numbers = [65_535, 1];
    const randomSpy = jest.spyOn(crypto, "getRandomValues").mockImplementation((array) => {
      if (array instanceof Uint16Array) array[0] = numbers.shift() ?? 0;
      return array;
    });
    expect(pickRandomWord(["a", "b", "c", "d", "e", "f"])).toBe("b"); // 65,532 is the last whole multiple of 6
    expect(numbers).toEqual([]);
    randomSpy.mockRestore();
  });
});
