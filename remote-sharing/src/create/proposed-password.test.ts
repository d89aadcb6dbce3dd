import { loadWords } from "@relicario/shared/forms";
import { proposePassword } from "./proposed-password.ts";

describe("proposePassword", () => {
  it.each([
    ["en", "english"],
    ["es", "spanish"],
  ] as const)("draws four words of the list, without accents (%s)", async (language, list) => {
    const known = await loadWords(list);
    const words = (await proposePassword(language)).split(" ");
    expect(words).toHaveLength(4);
    for (const word of words) {
      expect(word).toMatch(/^[a-z]+$/);
      expect(known).toContain(word);
    }
  });

  it("has at least 43 bits in either language", async () => {
    for (const list of ["english", "spanish"] as const) {
      const plain = (await loadWords(list)).filter((word) => /^[a-z]+$/.test(word));
      expect(4 * Math.log2(plain.length)).toBeGreaterThan(42.9);
    }
  });

  it("draws a number beyond the last whole multiple anew", async () => {
    const drawn = jest.spyOn(crypto, "getRandomValues");
    const numbers = [65_535, 1, 2, 3, 4];
    drawn.mockImplementation((array) => {
      if (array instanceof Uint16Array) array[0] = numbers.shift() ?? 0;
      return array;
    });
    const plain = (await loadWords("spanish")).filter((word) => /^[a-z]+$/.test(word));
    expect(await proposePassword("es")).toBe([plain[1], plain[2], plain[3], plain[4]].join(" "));
    drawn.mockRestore();
  });
});
