import { s, space } from "@relicario/shared/ui";
import { css, styled } from "styled-components";

export const entryStyles = css`
  display: flex;
  align-items: center;
  gap: ${space(3)};
  width: 100%;
  min-height: 44px;
  padding: ${space(2)} ${space(3)};
  border: 0;
  border-radius: ${s("radius")};
  background: none;
  color: ${s("textMuted")};
  font-size: ${s("textSmall")};
  font-weight: 550;
  text-align: left;
  text-decoration: none;
  cursor: pointer;
  transition:
    background-color 120ms,
    color 120ms;
  & > svg {
    flex: none;
    width: 20px;
    height: 20px;
  }
  & > svg[viewBox="0 0 24 16"] {
    width: 24px;
    height: 16px;
    margin: 0 -2px;
  }
  &:hover {
    background: ${s("surfaceSunken")};
    color: ${s("text")};
  }
  &[aria-current="page"] {
    background: ${s("accentSoft")};
    color: ${s("accentText")};
  }
`;

export const EntryButton = styled.button`
  ${entryStyles}
`;

/** Text of an entry. It wraps where the sidebar is too narrow, as for some Spanish texts. */
export const EntryText = styled.span`
  min-width: 0;
  line-height: 1.25;
`;
