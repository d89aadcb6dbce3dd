import { styled } from "styled-components";

import { media, s, space } from "./tokens.ts";

/** A bordered surface for a group of contents. */
export const Card = styled.section`
  min-width: 0;
  padding: ${space(6)};
  border: 1px solid ${s("border")};
  border-radius: ${s("radius")};
  background: ${s("surface")};
  box-shadow: ${s("shadow")};
  ${media.mobile} {
    padding: ${space(4)};
  }
`;
