import { styled } from "styled-components";

import { s, space } from "../../ui/tokens.ts";

/** Shows words to copy exactly: not translated, selected as a whole. */
export const VerbatimOutput = styled.output.attrs({ translate: "no", dir: "auto" })`
  display: block;
  min-height: 2.9em;
  padding: ${space(2)} ${space(4)};
  border-radius: ${s("radiusSmall")};
  background: ${s("surfaceSunken")};
  font-family: ${s("fontMono")};
  line-height: 1.9;
  overflow-wrap: anywhere;
  user-select: all;
`;
