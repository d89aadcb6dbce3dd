import { s, space } from "@relicario/shared/ui";
import { styled } from "styled-components";

interface WordListProps {
  readonly words: readonly string[];
  readonly label: string;
}

/** Numbered words of a code, to be copied by hand. */
export function WordList({ words, label }: WordListProps) {
  return (
    <Words aria-label={label} translate="no">
      {words.map((word, index) => (
        <li key={index}>{word}</li>
      ))}
    </Words>
  );
}

const Words = styled.ol`
  display: grid;
  grid-template-columns: repeat(auto-fill, minmax(88px, 1fr));
  gap: ${space(2)} ${space(10)}; /* the list numbers hang into the gap */
  padding: ${space(4)} ${space(4)} ${space(4)} ${space(12)};
  border: 1px solid ${s("border")};
  border-radius: ${s("radius")};
  background: ${s("surfaceSunken")};
  font-family: ${s("fontMono")};
  list-style: decimal;
`;
