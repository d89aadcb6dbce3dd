/** At-rules that contain style rules, and so are scoped inside. All others stay as they are. */
const groupingRules = /^@(media|supports|container|layer|scope|starting-style)\b/i;

/**
 * Limits a stylesheet's style rules to the elements inside `scope`, by nesting: `.card` becomes
 * `scope { .card }`. Rules for `html`, `body` and `:root` match nothing then. At-rules that style
 * no element, such as `@font-face` and `@keyframes`, stay global.
 *
 * An engine without nesting of element selectors (before Chromium 120, Safari 17.2, Firefox 117)
 * ignores the rules.
 *
 * @param scope selector
 */
export function scopeStyles(css: string, scope: string): string {
  let scoped = "";
  let styleRules = "";
  const flush = () => {
    if (styleRules.trim() !== "") scoped += `${scope} {\n${styleRules.trim()}\n}\n`;
    styleRules = "";
  };
  for (const statement of splitStatements(css)) {
    const start = statement.replace(/^(\s|\/\*[^]*?\*\/)+/, "");
    if (!start.startsWith("@")) {
      styleRules += statement;
      continue;
    }
    flush();
    const open = groupingRules.test(start) ? findOpeningBrace(statement) : -1;
    const content = statement.slice(open + 1).replace(/\}$/, "");
    scoped +=
      open === -1
        ? `${statement.trim()}\n`
        : `${statement.slice(0, open + 1).trim()}\n${scopeStyles(content, scope)}}\n`;
  }
  flush();
  return scoped;
}

/**
 * Splits at the end of each top-level rule. What follows the last one is a statement too. Leaves
 * out a brace that closes nothing: it would end the scope.
 */
function splitStatements(css: string): string[] {
  const statements: string[] = [];
  let start = 0;
  let depth = 0;
  for (const { index, character } of listSyntax(css)) {
    const closesNothing = character === "}" && depth === 0;
    if (character === "{") depth++;
    else if (character === "}" && !closesNothing) depth--;
    if (depth > 0) continue;
    statements.push(css.slice(start, closesNothing ? index : index + 1));
    start = index + 1;
  }
  return [...statements, css.slice(start)].filter((statement) => statement.trim() !== "");
}

function findOpeningBrace(statement: string): number {
  return listSyntax(statement).find(({ character }) => character === "{")?.index ?? -1;
}

/** Braces and semicolons outside comments, texts, escapes and parentheses such as `url(…)`. */
function listSyntax(css: string): { readonly index: number; readonly character: string }[] {
  const ignored = /\/\*[^]*?(\*\/|$)|"(\\[^]|[^"\\])*"|'(\\[^]|[^'\\])*'|\\[^]|[{}();]/g;
  let parentheses = 0;
  return [...css.matchAll(ignored)].flatMap(({ index, 0: token }) => {
    if (token === "(") parentheses++;
    else if (token === ")") parentheses = Math.max(0, parentheses - 1);
    else if (parentheses === 0 && /^[{};]$/.test(token)) return [{ index, character: token }];
    return [];
  });
}
