import { css, styled } from "styled-components";

import { media, s, space } from "./tokens.ts";

/** Vertical stack, with gaps of `$gap` grid steps. */
export const Stack = styled.div<{ readonly $gap?: number }>`
  display: flex;
  flex-direction: column;
  gap: ${({ $gap }) => space($gap ?? 4)};
  min-width: 0;
`;

/** Horizontal row that wraps. */
export const SpacedRow = styled.div<{
  readonly $gap?: number;
  readonly $justify?: "start" | "end" | "between";
  readonly $align?: "start" | "center";
}>`
  display: flex;
  flex-wrap: wrap;
  align-items: ${({ $align }) => ($align === "start" ? "flex-start" : "center")};
  gap: ${({ $gap }) => space($gap ?? 3)};
  justify-content: ${({ $justify }) => ($justify === "between" ? "space-between" : ($justify ?? "start"))};
  min-width: 0;
`;

export const Muted = styled.p`
  color: ${s("textMuted")};
  max-width: ${s("lineLength")};
`;

export const SmallText = styled.p`
  color: ${s("textMuted")};
  font-size: ${s("textSmall")};
  max-width: ${s("lineLength")};
`;

/** Hint about dragging or pasting. Touch screens, which have neither, do not show it. */
export const PointerHint = styled(SmallText)`
  ${media.touch} {
    display: none;
  }
`;

/** Heading of a page section. Set its level with `as`. */
export const SectionTitle = styled.h2`
  font-size: ${s("textLarge")};
`;

export const visuallyHidden = css`
  position: absolute;
  width: 1px;
  height: 1px;
  margin: -1px;
  padding: 0;
  border: 0;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
`;

/** Text only for assistive technology. */
export const VisuallyHidden = styled.span`
  ${visuallyHidden}
`;
