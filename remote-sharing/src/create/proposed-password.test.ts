import { loadWordList } from "@relicario/shared/forms";
import { proposePassword } from "./proposed-password.ts";

describe("proposePassword", () => {
  it.each([
    ["en", "english"],
    ["es", "spanish"],
  ] as const)("draws four words of the list, without accents (%s)", async (language, list) => {
    const wordList = await loadWordList(list);
    const words = (await proposePassword(language)).split(" ");
    expect(words).toHaveLength(4);
    for (const word of words) {
      expect(word).toMatch(/^[a-z]+$/);
      expect(wordList).toContain(word);
    }
  });

  it("proposes passwords of about 43 bits or more in either language", async () => {
    for (const list of ["english", "spanish"] as const) {
      const plainWords = (await loadWordList(list)).filter((word) => /^[a-z]+$/.test(word));
      expect(4 * Math.log2(plainWords.length)).toBeGreaterThan(42.9);
    }
  });

  it("draws again if a number is beyond the last whole multiple of the list's length", async () => {
    const randomSpy = jest.spyOn(crypto, "getRandomValues");
    const numbers = [65_535, 1, 2, 3, 4];
    randomSpy.mockImplementation((array) => {
      if (array instanceof Uint16Array) array[0] = numbers.shift() ?? 0;
      return array;
    });
    const plainWords = (await loadWordList("spanish")).filter((word) => /^[a-z]+$/.test(word));
    expect(await proposePassword("es")).toBe([plainWords[1], plainWords[2], plainWords[3], plainWords[4]].join(" "));
    randomSpy.mockRestore();
  });
});
