import { s, SmallText, space } from "@relicario/shared/ui";
import { styled } from "styled-components";

interface WordListProps {
  readonly words: readonly string[];
  readonly label: string;
}

/** Words to read to somebody, in their order. */
export function WordList({ words, label }: WordListProps) {
  return (
    <div>
      <SmallText aria-hidden>{label}</SmallText>
      <List aria-label={label}>
        {words.map((word, index) => (
          <li key={`${String(index)} ${word}`}>{word}</li>
        ))}
      </List>
    </div>
  );
}

const List = styled.ol`
  display: grid;
  grid-template-columns: repeat(auto-fill, minmax(8rem, 1fr));
  gap: ${space(1)} ${space(4)};
  margin-top: ${space(2)};
  padding: ${space(3)} ${space(4)} ${space(3)} ${space(10)};
  border-radius: ${s("radiusSmall")};
  background: ${s("surfaceSunken")};
  font-family: ${s("fontMono")};
  list-style: decimal;
`;
