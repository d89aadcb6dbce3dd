import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";

import { expectAccessible, renderApp } from "../../testing/index.ts";
import { checkSeed, completeWord } from "./check-seed.ts";
import { SeedField } from "./SeedField.tsx";
import { guessLanguages, loadWordList, seedLanguages, type SeedLanguage } from "./word-lists.ts";

/**
 * The phrase of sixteen zero bytes in each list (BIP-39): eleven times the first word, and the one
 * that fits.
 */
async function createZeroPhrase(language: SeedLanguage): Promise<string> {
  const list = await loadWordList(language);
  return [...Array.from({ length: 11 }, () => list[0] ?? ""), list[3] ?? ""].join(" ");
}
const zeroEnglish = `${"abandon ".repeat(11)}about`;

describe("checkSeed", () => {
  it("fits in every list with the checksum of BIP-39", async () => {
    for (const language of seedLanguages) {
      expect(checkSeed(await createZeroPhrase(language), await loadWordList(language), language)).toEqual({
        language,
        wordCount: 12,
        unknownWords: [],
        checksum: "fits",
      });
    }
  });

  it.each([
    ["no capitals count, nor the space between", `  ${zeroEnglish.toUpperCase().replaceAll(" ", "\n ")} `, "fits"],
    ["a wrong last word is told", `${"abandon ".repeat(11)}ability`, "wrong"],
    ["two words in each other's place are told", `about ${"abandon ".repeat(11)}`, "wrong"],
    ["eleven words are short", "abandon ".repeat(11), "short"],
    ["a word that is being typed is not judged", "abandon abi", "short"],
    ["a word that is ended is", "abandon abi ", "unknown"],
  ])("%s", async (_, text, checksum) => {
    expect(checkSeed(text, await loadWordList("english"), "english").checksum).toBe(checksum);
  });

  it("takes Spanish words with their accents, and without", async () => {
    const list = await loadWordList("spanish");
    const phrase = await createZeroPhrase("spanish");
    expect(phrase.normalize("NFC")).toMatch(/^ábaco /u);
    expect(checkSeed(phrase.normalize("NFC"), list, "spanish").checksum).toBe("fits");
    expect(checkSeed(phrase.normalize("NFD").replace(/\p{M}/gu, ""), list, "spanish").checksum).toBe("fits");
  });

  it("names unknown words as they were typed", async () => {
    expect(checkSeed("Abandon WALET abel ", await loadWordList("english"), "english").unknownWords).toEqual([
      "WALET",
      "abel",
    ]);
  });
});

describe("completions", () => {
  it("are the words that begin so, and none for a whole word", async () => {
    const list = await loadWordList("english");
    expect(completeWord("aban", list)).toEqual(["abandon"]);
    expect(completeWord("ACT", list)).toEqual(["act", "action", "actor", "actress", "actual"]);
    expect(completeWord("abandon", list)).toEqual([]);
    expect(completeWord("", list)).toEqual([]);
  });
});

describe("likelyLanguages", () => {
  it("looks at the script first, then at the language of the portal", () => {
    expect(guessLanguages("あいこくしん", "en")).toEqual([["japanese"]]);
    expect(guessLanguages("가격", "en")).toEqual([["korean"]]);
    expect(guessLanguages("的", "en")).toEqual([["simplified-chinese", "traditional-chinese"]]);
    expect(guessLanguages("abandon", "es").slice(0, 2)).toEqual([["spanish"], ["english"]]);
    expect(guessLanguages("abandon", "en").slice(0, 2)).toEqual([["english"], ["spanish"]]);
  });
});

function Field() {
  const [value, setValue] = useState("");
  return (
    <main>
      <h1>Field</h1>
      <SeedField
        value={value}
        onChange={setValue}
        onBlur={() => undefined}
        error={null}
        disabled={false}
        fieldRef={null}
      />
    </main>
  );
}

describe("SeedField", () => {
  const getField = () => screen.getByRole("textbox", { name: "Your seed phrase" });

  it("suggests words while one is typed, and takes the one that is pressed", async () => {
    await renderApp(<Field />);
    await userEvent.type(getField(), "abandon abi");
    await userEvent.click(await screen.findByRole("button", { name: "ability" }));
    expect(getField()).toHaveValue("abandon ability ");
    await expectAccessible();
  });

  it("says that the words fit, and in which language", async () => {
    await renderApp(<Field />);
    await userEvent.click(getField());
    await userEvent.paste(await createZeroPhrase("french"));
    expect(await screen.findByText("12 words in French, and they fit together.")).toBeVisible();
    await expectAccessible();
  });

  it("warns of words that are not in the list, and changes nothing of them", async () => {
    await renderApp(<Field />);
    await userEvent.click(getField());
    await userEvent.paste(`walet ${zeroEnglish}`);
    expect(await screen.findByText(/^walet\. /)).toBeVisible();
    expect(getField()).toHaveValue(`walet ${zeroEnglish}`);
  });

  it("warns of words that do not fit together", async () => {
    await renderApp(<Field />);
    await userEvent.click(getField());
    await userEvent.paste(`${"abandon ".repeat(11)}ability`);
    expect(await screen.findByText("These words do not fit together")).toBeVisible();
  });
});
