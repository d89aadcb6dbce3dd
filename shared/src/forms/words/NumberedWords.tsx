import { useEffect, useState } from "react";
import { styled } from "styled-components";

import type { Language } from "../../contract/language.ts";
import { usePortal } from "../../contract/portal.ts";
import { SmallText } from "../../ui/layout.tsx";
import { s, space } from "../../ui/tokens.ts";
import { loadWordLists, numberWords, type NumberedWord, type WordLists } from "./numbered-words.ts";

export interface NumberedWordsProps {
  /** Words of the English BIP-39 list, as the vault returns them. */
  readonly words: readonly string[];
  readonly label: string;
}

/**
 * Words for people to compare, in the portal's language, each with its number in the list. People
 * who read different languages compare the numbers.
 */
export function NumberedWords({ words, label }: NumberedWordsProps) {
  const numberedWords = useNumberedWords(words);
  return (
    <div>
      <SmallText aria-hidden>{label}</SmallText>
      <List aria-label={label} translate="no">
        {numberedWords.map(({ word, number }, index) => (
          <li key={index}>
            {word} {number !== null && <Place>{number}</Place>}
          </li>
        ))}
      </List>
    </div>
  );
}

/**
 * Returns the words without numbers until the lists are loaded, and in English if they cannot be
 * loaded.
 */
export function useNumberedWords(words: readonly string[]): readonly NumberedWord[] {
  const { language } = usePortal();
  const [loaded, setLoaded] = useState<{ readonly language: Language; readonly lists: WordLists } | null>(null);
  useEffect(() => {
    let isCurrent = true;
    const finish = (lists: WordLists) => {
      if (isCurrent) setLoaded({ language, lists });
    };
    loadWordLists(language).then(finish, () => {
      finish({ english: [], own: [] });
    });
    return () => {
      isCurrent = false;
    };
  }, [language]);
  if (loaded?.language === language) return numberWords(words, loaded.lists);
  return words.map((word) => ({ word: language === "en" ? word : "", number: null }));
}

const List = styled.ol`
  display: grid;
  grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr));
  gap: ${space(1)} ${space(4)};
  margin-top: ${space(2)};
  padding: ${space(3)} ${space(4)};
  border-radius: ${s("radiusSmall")};
  background: ${s("surfaceSunken")};
  font-family: ${s("fontMono")};
  & > li {
    display: flex;
    gap: ${space(2)};
    min-height: 1lh;
  }
`;

const Place = styled.span`
  color: ${s("textMuted")};
`;
