import { media, s, space } from "@relicario/shared/ui";
import type { ReactNode } from "react";
import { styled } from "styled-components";

interface FactListProps {
  readonly facts: readonly { readonly label: string; readonly value: ReactNode }[];
}

export function FactList({ facts }: FactListProps) {
  return (
    <List>
      {facts.map(({ label, value }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </List>
  );
}

const List = styled.dl`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(4)} ${space(8)};
  & dt {
    color: ${s("textMuted")};
    font-size: ${s("textSmall")};
  }
  & dd {
    overflow-wrap: anywhere;
  }
  ${media.mobile} {
    gap: ${space(3)} ${space(6)};
  }
`;
