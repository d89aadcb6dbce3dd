import { scopeStyles } from "./scope-styles.ts";

/** Without the line breaks, which mean nothing. */
const scope = (css: string): string => scopeStyles(css, "[x]").replaceAll(/\s+/g, " ").trim();

describe("scopeStyles", () => {
  it.each([
    [".a { color: red } .b, .c { margin: 0 }", "[x] { .a { color: red } .b, .c { margin: 0 } }"],
    ["nav { display: none !important }", "[x] { nav { display: none !important } }"],
    ["@media print { .a { color: red } }", "@media print { [x] { .a { color: red } } }"],
    [
      "@layer base { @supports (gap: 1px) { .a { gap: 1px } } }",
      "@layer base { @supports (gap: 1px) { [x] { .a { gap: 1px } } } }",
    ],
    ["@layer base, page; .a { gap: 1px }", "@layer base, page; [x] { .a { gap: 1px } }"],
    [
      ".a { animation: b 1s } @keyframes b { from { opacity: 0 } } .c { gap: 0 }",
      "[x] { .a { animation: b 1s } } @keyframes b { from { opacity: 0 } } [x] { .c { gap: 0 } }",
    ],
    ["@font-face { font-family: a; src: url(b;{c) }", "@font-face { font-family: a; src: url(b;{c) }"],
    ["/* @media { */ .a { gap: 0 }", "[x] { /* @media { */ .a { gap: 0 } }"],
    ["/* its own */ @font-face { src: url(b) }", "/* its own */ @font-face { src: url(b) }"],
    ['.a::after { content: "} nav { \\" " }', '[x] { .a::after { content: "} nav { \\" " } }'],
    [".a\\{ { gap: 0 }", "[x] { .a\\{ { gap: 0 } }"],
    [".a { .b { gap: 0 } } .c { gap: 0 }", "[x] { .a { .b { gap: 0 } } .c { gap: 0 } }"],
    [".a { gap: 0 } } nav { display: none }", "[x] { .a { gap: 0 } nav { display: none } }"],
    ["@media all { nav { display: none", "@media all { [x] { nav { display: none } }"],
    ["", ""],
  ])("limits %s", (css, scoped) => {
    expect(scope(css)).toBe(scoped);
  });
});
