import type {} from "./styled.d.ts";

/**
 * Colours by theme, as custom properties, so that a change of theme re-renders nothing in React.
 * Tests check the pairs of text and background for WCAG AA.
 */
const light = {
  background: "#f8f6f2",
  surface: "#ffffff",
  surfaceSunken: "#f1ede6",
  surfaceRaised: "#ffffff",
  text: "#24211d",
  textMuted: "#645d54",
  border: "#e3ddd3",
  borderStrong: "#8b8378",
  accent: "#17615c",
  accentHover: "#104c48",
  accentText: "#17615c",
  accentSoft: "#e3f0ed",
  onAccent: "#ffffff",
  danger: "#a62b2b",
  dangerHover: "#871f1f",
  dangerText: "#9c2626",
  dangerSoft: "#fbeae8",
  onDanger: "#ffffff",
  warnText: "#7a4d00",
  warnSoft: "#fdf2dc",
  successText: "#1d6335",
  successSoft: "#e5f3e8",
  star: "#b07a00",
  focus: "#1c6fd1",
  overlay: "rgb(36 33 29 / 0.48)",
  vendorBackground: "#173430",
  onVendor: "#f6f2ea",
} as const;

export type ColorToken = keyof typeof light;
type Colors = Readonly<Record<ColorToken, string>>;

const dark: Colors = {
  background: "#171513",
  surface: "#201e1b",
  surfaceSunken: "#1a1816",
  surfaceRaised: "#2a2723",
  text: "#f2eee7",
  textMuted: "#b7afa4",
  border: "#37332e",
  borderStrong: "#857d72",
  accent: "#7fcabf",
  accentHover: "#9bdacf",
  accentText: "#8ad0c6",
  accentSoft: "#1d3633",
  onAccent: "#0d2623",
  danger: "#f09a92",
  dangerHover: "#f6b4ae",
  dangerText: "#f4a8a1",
  dangerSoft: "#3f2322",
  onDanger: "#3a1210",
  warnText: "#eec67f",
  warnSoft: "#3a2e17",
  successText: "#93d3a4",
  successSoft: "#1d3424",
  star: "#eec67f",
  focus: "#8bbcff",
  overlay: "rgb(0 0 0 / 0.62)",
  vendorBackground: "#0b1d1b",
  onVendor: "#f2eee7",
};

export const colors = { light, dark } as const;

/** Lengths and type. Type sizes grow by a factor of 1.2 from 16 px. */
const measures = {
  radius: "12px",
  radiusSmall: "8px",
  radiusRound: "999px",
  fontFamily:
    '"Inter Variable", "Inter Fallback", "Inter", system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontMono: 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace',
  textTiny: "0.75rem",
  textSmall: "0.875rem",
  textBase: "1rem",
  textLarge: "1.2rem",
  textTitle: "1.44rem",
  textDisplay: "clamp(1.728rem, 1.4rem + 1.6vw, 2.0736rem)",
  lineLength: "68ch",
  target: "44px",
} as const;

/** Soft shadows in the light theme; hairline borders in the dark one. */
const shadows = {
  light: {
    shadow: "0 1px 2px rgb(60 50 35 / 0.06), 0 6px 20px rgb(60 50 35 / 0.06)",
    shadowRaised: "0 4px 12px rgb(60 50 35 / 0.1), 0 20px 48px rgb(60 50 35 / 0.16)",
  },
  dark: { shadow: "none", shadowRaised: "0 16px 48px rgb(0 0 0 / 0.5)" },
} as const;

export type Token = ColorToken | keyof typeof measures | keyof typeof shadows.light;

/** CSS value of a token: `color: ${s("textMuted")}`. */
export function s(token: Token): string {
  return `var(--${toKebabCase(token)})`;
}

/** CSS length on the 4 px grid: `padding: ${space(4)}` is 16 px. */
export function space(steps: number): string {
  return `${String(steps * 4)}px`;
}

/**
 * z-index values. Modals are above the loading overlay (specification, section 9) and above guided
 * tours.
 */
export const depths = { raised: 1, frame: 50, overlay: 99, tour: 500, dialog: 1000, menu: 1100, toast: 1200 } as const;

/** Widths in pixels. The portal shows its bottom bar on windows narrower than `mobile`. */
export const breakpoints = { mobile: 640, wide: 1024 } as const;

export const media = {
  mobile: `@media (max-width: ${String(breakpoints.mobile - 0.02)}px)`,
  desktop: `@media (min-width: ${String(breakpoints.mobile)}px)`,
  wide: `@media (min-width: ${String(breakpoints.wide)}px)`,
  touch: "@media (pointer: coarse)",
  reducedMotion: "@media (prefers-reduced-motion: reduce)",
} as const;

/**
 * A vendor's colours, by token name. Unknown names are ignored, as are values that are not plain
 * colours.
 */
export interface ColorOverrides {
  readonly light?: Readonly<Record<string, string>>;
  readonly dark?: Readonly<Record<string, string>>;
}

const plainColor = /^(#[0-9a-f]{3,8}|(rgb|hsl|oklch)\([0-9a-z.,%/ ]+\))$/i;

export function declareTokens(theme: "light" | "dark", overrides: ColorOverrides = {}): string {
  const validOverrides = Object.entries(overrides[theme] ?? {}).filter(
    ([name, value]) => name in light && plainColor.test(value),
  );
  const all = { ...measures, ...shadows[theme], ...colors[theme], ...Object.fromEntries(validOverrides) };
  return Object.entries(all)
    .map(([name, value]) => `--${toKebabCase(name)}: ${value};`)
    .join("\n");
}

function toKebabCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
