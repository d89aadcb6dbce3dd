import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";

import { expectAccessible, renderApp } from "../../testing/index.ts";
import { checkSeed, completeWord } from "./check-seed.ts";
import { SeedField } from "./SeedField.tsx";
import { guessLanguages, loadWordList, seedLanguages, type SeedLanguage } from "./word-lists.ts";

/**
 * Phrase of sixteen zero bytes in each list (BIP-39): eleven times the first word, then the
 * checksum word.
 */
async function createZeroPhrase(language: SeedLanguage): Promise<string> {
  const list = await loadWordList(language);
  return [...Array.from({ length: 11 }, () => list[0] ?? ""), list[3] ?? ""].join(" ");
}
const zeroEnglish = `${"abandon ".repeat(11)}about`;

describe("checkSeed", () => {
  it("accepts a valid checksum in every list", async () => {
    for (const language of seedLanguages) {
      expect(checkSeed(await createZeroPhrase(language), await loadWordList(language), language)).toEqual({
        language,
        wordCount: 12,
        unknownWords: [],
        verdict: "fits",
      });
    }
  });

  it.each([
    ["ignores case and extra white space", `  ${zeroEnglish.toUpperCase().replaceAll(" ", "\n ")} `, "fits"],
    ["finds a wrong last word", `${"abandon ".repeat(11)}ability`, "wrong"],
    ["finds swapped words", `about ${"abandon ".repeat(11)}`, "wrong"],
    ["finds eleven words too short", "abandon ".repeat(11), "short"],
    ["ignores an unfinished last word", "abandon abi", "short"],
    ["checks a finished last word", "abandon abi ", "unknown"],
  ])("%s", async (_, text, verdict) => {
    expect(checkSeed(text, await loadWordList("english"), "english").verdict).toBe(verdict);
  });

  it("accepts Spanish words with and without accents", async () => {
    const list = await loadWordList("spanish");
    const phrase = await createZeroPhrase("spanish");
    expect(phrase.normalize("NFC")).toMatch(/^ábaco /u);
    expect(checkSeed(phrase.normalize("NFC"), list, "spanish").verdict).toBe("fits");
    expect(checkSeed(phrase.normalize("NFD").replace(/\p{M}/gu, ""), list, "spanish").verdict).toBe("fits");
  });

  it("returns unknown words as typed", async () => {
    expect(checkSeed("Abandon WALET abel ", await loadWordList("english"), "english").unknownWords).toEqual([
      "WALET",
      "abel",
    ]);
  });
});

describe("completeWord", () => {
  it("returns words with the prefix, and none for a whole word", async () => {
    const list = await loadWordList("english");
    expect(completeWord("aban", list)).toEqual(["abandon"]);
    expect(completeWord("ACT", list)).toEqual(["act", "action", "actor", "actress", "actual"]);
    expect(completeWord("abandon", list)).toEqual([]);
    expect(completeWord("", list)).toEqual([]);
  });
});

describe("guessLanguages", () => {
  it("orders languages by script first, then by the portal's language", () => {
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

  it("suggests words while typing, and inserts the chosen one", async () => {
    await renderApp(<Field />);
    await userEvent.type(getField(), "abandon abi");
    await userEvent.click(await screen.findByRole("button", { name: "ability" }));
    expect(getField()).toHaveValue("abandon ability ");
    await expectAccessible();
  });

  it("confirms a valid phrase and its language", async () => {
    await renderApp(<Field />);
    await userEvent.click(getField());
    await userEvent.paste(await createZeroPhrase("french"));
    expect(await screen.findByText("12 words in French: the phrase is valid.")).toBeVisible();
    await expectAccessible();
  });

  it("warns of unknown words without changing the text", async () => {
    await renderApp(<Field />);
    await userEvent.click(getField());
    await userEvent.paste(`walet ${zeroEnglish}`);
    expect(await screen.findByText(/^walet\. /)).toBeVisible();
    expect(getField()).toHaveValue(`walet ${zeroEnglish}`);
  });

  it("warns of a wrong checksum", async () => {
    await renderApp(<Field />);
    await userEvent.click(getField());
    await userEvent.paste(`${"abandon ".repeat(11)}ability`);
    expect(await screen.findByText("Checksum doesn't match")).toBeVisible();
  });

  it("reports an unfinished last word instead of counting it", async () => {
    await renderApp(<Field />);
    await userEvent.click(getField());
    await userEvent.paste(`${"abandon ".repeat(11)}abil`);
    expect(await screen.findByText("The last word is not finished.")).toBeVisible();
  });
});
