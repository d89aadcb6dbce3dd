/**
 * The one style sheet of these pages. Colours are the portal's tokens, so that going to sign in
 * does not feel like going elsewhere. @param fontFileName file name of the font, beside the style
 * sheet
 */
export function buildStyleSheet(fontFileName: string): string {
  return `@font-face {
  font-family: "Inter Variable";
  font-style: normal;
  font-display: swap;
  font-weight: 100 900;
  src: url("${fontFileName}") format("woff2-variations");
}
:root {
  color-scheme: light;
  ${declareTokens(lightTokens)}
}
@media (prefers-color-scheme: dark) {
  :root:not([data-theme="light"]) {
    color-scheme: dark;
    ${declareTokens(darkTokens)}
  }
}
:root[data-theme="dark"] {
  color-scheme: dark;
  ${declareTokens(darkTokens)}
}
${styleRules}`;
}

const lightTokens = {
  background: "#f8f6f2",
  surface: "#ffffff",
  text: "#24211d",
  "text-muted": "#645d54",
  border: "#e3ddd3",
  "border-strong": "#8b8378",
  accent: "#17615c",
  "accent-hover": "#104c48",
  "accent-text": "#17615c",
  "accent-soft": "#e3f0ed",
  "on-accent": "#ffffff",
  "danger-text": "#9c2626",
  "danger-soft": "#fbeae8",
  focus: "#1c6fd1",
  shadow: "0 1px 2px rgb(60 50 35 / 0.06), 0 12px 40px rgb(60 50 35 / 0.08)",
};

const darkTokens: typeof lightTokens = {
  background: "#171513",
  surface: "#201e1b",
  text: "#f2eee7",
  "text-muted": "#b7afa4",
  border: "#37332e",
  "border-strong": "#857d72",
  accent: "#7fcabf",
  "accent-hover": "#9bdacf",
  "accent-text": "#8ad0c6",
  "accent-soft": "#1d3633",
  "on-accent": "#0d2623",
  "danger-text": "#f4a8a1",
  "danger-soft": "#3f2322",
  focus: "#8bbcff",
  shadow: "none",
};

function declareTokens(tokens: typeof lightTokens): string {
  return Object.entries(tokens)
    .map(([name, value]) => `--${name}: ${value};`)
    .join(" ");
}

const styleRules = `*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0;
  min-height: 100vh;
  min-height: 100dvh;
  display: grid;
  grid-template-rows: 1fr auto;
  background: var(--background);
  color: var(--text);
  font: 400 1rem/1.5 "Inter Variable", "Inter", system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main { display: grid; align-content: center; justify-items: center; padding: 40px 20px 24px; }
.sheet { width: 100%; max-width: 424px; }
.brand { display: flex; align-items: center; gap: 10px; margin: 0 0 24px; font-weight: 600; letter-spacing: -0.01em; }
.brand svg { width: 32px; height: 32px; flex: none; }
.card {
  background: var(--surface);
  border: 1px solid var(--border);
  border-radius: 12px;
  box-shadow: var(--shadow);
  padding: 32px;
}
h1 { margin: 0; font-size: 1.728rem; line-height: 1.2; font-weight: 640; letter-spacing: -0.02em; text-wrap: balance; }
.lead { margin: 8px 0 0; color: var(--text-muted); text-wrap: pretty; }
form { margin: 28px 0 0; }
.field { margin: 0 0 20px; }
label { display: block; margin: 0 0 6px; font-size: 0.875rem; font-weight: 560; }
input:not([type="hidden"]) {
  display: block;
  width: 100%;
  min-height: 48px;
  padding: 10px 14px;
  border: 1px solid var(--border-strong);
  border-radius: 10px;
  background: var(--surface);
  color: var(--text);
  font: inherit;
}
input:focus-visible { outline-width: 2px; outline-offset: 0; border-color: var(--focus); }
input[aria-invalid="true"]:not(:focus-visible) { border-color: var(--danger-text); box-shadow: inset 0 0 0 1px var(--danger-text); }
.hint, .problem { margin: 6px 0 0; font-size: 0.875rem; line-height: 1.45; text-wrap: pretty; }
.hint { color: var(--text-muted); }
.problem { color: var(--danger-text); font-weight: 500; }
.notice {
  margin: 24px 0 0;
  padding: 12px 16px;
  border-radius: 10px;
  background: var(--danger-soft);
  color: var(--danger-text);
  font-size: 0.9375rem;
  font-weight: 500;
  text-wrap: pretty;
}
.notice + form { margin-top: 20px; }
.button {
  display: block;
  width: 100%;
  min-height: 48px;
  padding: 11px 20px;
  border: 1px solid transparent;
  border-radius: 10px;
  background: var(--accent);
  color: var(--on-accent);
  font: inherit;
  font-weight: 600;
  text-align: center;
  text-decoration: none;
  cursor: pointer;
}
.button:hover { background: var(--accent-hover); }
.button.quiet { background: transparent; border-color: var(--border-strong); color: var(--text); }
.button.quiet:hover { background: var(--accent-soft); }
form .button { margin-top: 28px; }
.button + .button, form + .button { margin-top: 12px; }
.lead + .button { margin-top: 28px; }
.other { margin: 24px 0 0; padding-top: 20px; border-top: 1px solid var(--border); color: var(--text-muted); text-align: center; }
.link {
  display: inline-block;
  padding: 10px 4px;
  margin: -10px 0;
  color: var(--accent-text);
  font-weight: 600;
  text-underline-offset: 3px;
  text-decoration-thickness: 1px;
}
.link:hover { text-decoration-thickness: 2px; }
.code { margin: 20px 0 0; color: var(--text-muted); font-size: 0.875rem; }
.code code { font: 0.875rem ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace; color: var(--text); overflow-wrap: anywhere; }
.code + .button { margin-top: 20px; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
footer { padding: 12px 20px 24px; color: var(--text-muted); font-size: 0.8125rem; text-align: center; }
@media (max-width: 480px) {
  main { align-content: start; padding-top: 28px; }
  .card { padding: 24px 20px; }
  .brand { margin-bottom: 20px; }
}
@media (forced-colors: active) {
  .button { border-color: ButtonText; }
}
`;
