import { createHash } from "node:crypto";

import { screen, within } from "@testing-library/react";

import { expectAccessible, renderApp } from "../../testing/index.ts";
import { loadWordList, portalWordLists } from "../seed/word-lists.ts";
import { NumberedWords } from "./NumberedWords.tsx";
import { numberWords, toEnglishWords } from "./numbered-words.ts";

async function readItems(language: "en" | "es"): Promise<(string | null)[]> {
  await renderApp(<NumberedWords words={["abandon", "zoo", "ability"]} label="Words" />, { language });
  await screen.findByText("2048");
  await expectAccessible();
  return within(screen.getByRole("list", { name: "Words" }))
    .getAllByRole("listitem")
    .map((item) => item.textContent);
}

describe("NumberedWords", () => {
  it("shows the words of the portal's language with numbers from 1 to 2048", async () => {
    expect(await readItems("en")).toEqual(["abandon 1", "zoo 2048", "ability 2"]);
  });

  it("shows other words and the same numbers in Spanish", async () => {
    expect(await readItems("es")).toEqual(["ábaco 1", "zurdo 2048", "abdomen 2"]);
  });
});

describe("numberWords", () => {
  it("returns a word unchanged when it is in no list, or when no list was loaded", async () => {
    const english = await loadWordList(portalWordLists.en);
    expect(numberWords(["relicario"], { english, own: english })).toEqual([{ word: "relicario", number: null }]);
    expect(numberWords(["zoo"], { english: [], own: [] })).toEqual([{ word: "zoo", number: null }]);
  });
});

describe("toEnglishWords", () => {
  const phrase = "ábaco zurdo abdomen añadir";

  it("finds Spanish words by their numbers, with and without accents", async () => {
    expect(await toEnglishWords(phrase)).toBe(await toEnglishWords("ABACO, zurdo abdomen anadir"));
    expect(await toEnglishWords("ábaco zurdo abdomen")).toBe("abandon zoo ability");
    expect(await toEnglishWords("ábaco 1 zurdo 2048")).toBe("abandon zoo");
  });

  it("keeps unknown words in their positions", async () => {
    expect(await toEnglishWords("ábaco relicario zurdo")).toBe("abandon relicario zoo");
  });

  it.each(["abandon zoo menu", "1 2048 2", "", "relicario"])("returns %p as typed", async (typed) => {
    expect(await toEnglishWords(typed)).toBe(typed);
  });
});

describe("the word lists", () => {
  /** SHA-256 of the files of BIP-39, as rust-bip39 and go-bip39 publish them. */
  it.each([
    ["en", "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda", "abandon", "zoo"],
    ["es", "46846a5a0139d1e3cb77293e521c2865f7bcdb82c44e8d0a06a2cd0ecba48c0b", "ábaco", "zurdo"],
  ] as const)("are those of BIP-39: %s", async (language, digest, firstWord, lastWord) => {
    const list = await loadWordList(portalWordLists[language]);
    expect(
      createHash("sha256")
        .update(`${list.join("\n")}\n`)
        .digest("hex"),
    ).toBe(digest);
    expect([list[0]?.normalize("NFC"), list.at(-1)]).toEqual([firstWord, lastWord]);
    expect(new Set(list.map((word) => word.replace(/\p{M}/gu, ""))).size).toBe(2048);
  });
});
