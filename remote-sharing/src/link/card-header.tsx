import { s, space } from "@relicario/shared/ui";
import { styled } from "styled-components";

export const CardHeader = styled.div`
  display: flex;
  gap: ${space(3)};
  & > svg {
    flex: none;
    margin-top: 2px;
    color: ${s("accentText")};
  }
  & > div {
    min-width: 0;
  }
`;

export const CardName = styled.h2`
  font-size: ${s("textBase")};
  overflow-wrap: anywhere;
`;

export const CardFacts = styled.ul`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(1)} ${space(4)};
  margin-top: ${space(1)};
  color: ${s("textMuted")};
  font-size: ${s("textSmall")};
`;
