import { createGlobalStyle, css } from "styled-components";

import { declareTokens, media, s, type ColorOverrides } from "./tokens.ts";

interface GlobalStyleProps {
  /** The vendor's colours. */
  readonly $colors?: ColorOverrides;
}

/**
 * Tokens, reset and base styles of the page. The host renders it once. `data-theme` on the root
 * element is `light` or `dark`.
 */
export const GlobalStyle = createGlobalStyle<GlobalStyleProps>`
  ${({ $colors }) => css`
    :root {
      ${declareTokens("light", $colors)}
      color-scheme: light;
    }
    :root[data-theme="dark"] {
      ${declareTokens("dark", $colors)}
      color-scheme: dark;
    }
  `}

  *, *::before, *::after { box-sizing: border-box; }

  html {
    font-family: ${s("fontFamily")};
    font-feature-settings: "cv11", "ss03";
    line-height: 1.5;
    -webkit-text-size-adjust: 100%;
    text-size-adjust: 100%;
  }

  body {
    margin: 0;
    min-height: 100dvh;
    background: ${s("background")};
    color: ${s("text")};
    font-size: ${s("textBase")};
    -webkit-font-smoothing: antialiased;
    overflow-wrap: break-word;
  }

  h1, h2, h3, h4, p, figure, ul, ol, dl, dd, fieldset { margin: 0; padding: 0; }
  ul, ol { list-style: none; }
  fieldset { border: 0; min-width: 0; }
  legend { padding: 0; }
  h1, h2, h3, h4 { line-height: 1.25; letter-spacing: -0.015em; text-wrap: balance; font-weight: 650; }
  p, li { text-wrap: pretty; }
  /* Only where figures stand below each other: Inter's tabular set widens hyphens and points in running text too. */
  time, td, dd, output, meter, [role="progressbar"] { font-variant-numeric: tabular-nums; }
  button, input, textarea, select { font: inherit; color: inherit; letter-spacing: inherit; }
  img, svg { display: block; max-width: 100%; }
  a { color: ${s("accentText")}; text-underline-offset: 0.2em; text-decoration-thickness: 1px; }
  a:hover { text-decoration-thickness: 2px; }

  :focus-visible {
    outline: 2px solid ${s("focus")};
    outline-offset: 2px;
  }
  [tabindex="-1"]:focus-visible { outline: none; }

  ::selection { background: ${s("accent")}; color: ${s("onAccent")}; }

  /* The window is being resized: what moves with its size does not lag behind. */
  :root[data-resizing] *, :root[data-resizing] *::before, :root[data-resizing] *::after { transition: none !important; }

  ${media.reducedMotion} {
    *, *::before, *::after {
      animation-duration: 0.01ms !important;
      animation-iteration-count: 1 !important;
      transition: none !important;
      scroll-behavior: auto !important;
    }
  }
`;
