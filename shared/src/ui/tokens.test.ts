import { colors, declareTokens, s, space, type ColorToken } from "./tokens.ts";

const textPairs: readonly (readonly [ColorToken, ColorToken])[] = [
  ["text", "background"],
  ["text", "surface"],
  ["text", "surfaceSunken"],
  ["text", "surfaceRaised"],
  ["text", "accentSoft"],
  ["text", "warnSoft"],
  ["text", "dangerSoft"],
  ["text", "successSoft"],
  ["textMuted", "background"],
  ["textMuted", "surface"],
  ["textMuted", "surfaceSunken"],
  ["textMuted", "surfaceRaised"],
  ["accentText", "background"],
  ["accentText", "surface"],
  ["accentText", "accentSoft"],
  ["onAccent", "accent"],
  ["onAccent", "accentHover"],
  ["onDanger", "danger"],
  ["onDanger", "dangerHover"],
  ["dangerText", "background"],
  ["dangerText", "surface"],
  ["dangerText", "dangerSoft"],
  ["dangerText", "warnSoft"],
  ["warnText", "surface"],
  ["warnText", "warnSoft"],
  ["successText", "successSoft"],
  ["onVendor", "vendorBackground"],
];

/** Shapes without text: borders of controls, focus. */
const shapePairs: readonly (readonly [ColorToken, ColorToken])[] = [
  ["borderStrong", "surface"],
  ["borderStrong", "background"],
  ["borderStrong", "surfaceSunken"],
  ["focus", "surface"],
  ["focus", "background"],
  ["accent", "surface"],
  ["star", "surface"],
];

describe.each(["light", "dark"] as const)("colours in %s", (theme) => {
  it.each(textPairs)("text %s has enough contrast on %s (WCAG 1.4.3, 4.5 to 1)", (front, back) => {
    expect(computeContrast(colors[theme][front], colors[theme][back])).toBeGreaterThanOrEqual(4.5);
  });

  it.each(shapePairs)("shape %s has enough contrast on %s (WCAG 1.4.11, 3 to 1)", (front, back) => {
    expect(computeContrast(colors[theme][front], colors[theme][back])).toBeGreaterThanOrEqual(3);
  });
});

describe("declareTokens", () => {
  it("applies the vendor's colours", () => {
    expect(declareTokens("dark", { dark: { accent: "#abcdef" } })).toContain("--accent: #abcdef;");
  });

  it.each([
    ["an unknown name", { acent: "#abcdef" }],
    ["a value that ends the declaration", { accent: "#fff; background: url(https://elsewhere.example)" }],
    ["a URL", { accent: "url(https://elsewhere.example)" }],
  ])("ignores %s", (_case, light) => {
    expect(declareTokens("light", { light })).toBe(declareTokens("light"));
  });
});

it("s and space return CSS values", () => {
  expect(s("textMuted")).toBe("var(--text-muted)");
  expect(space(4)).toBe("16px");
});

function computeContrast(first: string, second: string): number {
  const [light, dark] = [computeLuminance(first), computeLuminance(second)].sort((a, b) => b - a);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

/** Relative luminance of `#rrggbb` (WCAG 2.2). */
function computeLuminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((offset) => {
    const channel = Number.parseInt(hex.slice(offset, offset + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
