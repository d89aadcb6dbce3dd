import type { MarkColour } from "@relicario/vault/mark";

/** At least 3:1 (WCAG 1.4.11) on the surfaces of both themes. */
export const swatches: Readonly<Record<MarkColour, string>> = {
  red: "#d03b3b",
  orange: "#c2570c",
  yellow: "#a67c00",
  green: "#2e8b3d",
  teal: "#148a86",
  blue: "#3b76d6",
  violet: "#8e5bd0",
  grey: "#7a7a7a",
};
