/**
 * What the code asks of the texts, and what the texts say: every key that is used exists, every key
 * that exists is used, in every language, with the same placeholders; and no words for people stand
 * in the code itself.
 */
import ts from "typescript";

export interface SourceFile {
  /** Path from the root. */
  readonly path: string;
  readonly text: string;
}

export interface TextFile {
  readonly language: string;
  readonly namespace: string;
  /** The package that owns it. */
  readonly owner: string;
  readonly content: unknown;
}

const plural = /_(zero|one|two|few|many|other)$/;
const attributesThatSpeak = new Set(["aria-label", "aria-description", "alt", "title", "placeholder", "label"]);

/** A text that is asked for outside the code: `<namespace>:<key>`. */
export interface NamedText {
  /** Path of what asks for it, from the root. */
  readonly path: string;
  readonly key: string;
}

/** All problems, each in one sentence. */
export function problemsOfTexts(
  sources: readonly SourceFile[],
  texts: readonly TextFile[],
  languages: readonly string[],
  named: readonly NamedText[] = [],
): string[] {
  const keys = new Map<string, Map<string, string>>(); // language -> "ns:key" -> text
  for (const language of languages) keys.set(language, new Map());
  const namespaces = new Set<string>();
  for (const { language, namespace, content } of texts) {
    namespaces.add(namespace);
    for (const [key, value] of flatten(content)) keys.get(language)?.set(`${namespace}:${key}`, value);
  }

  const problems = [...parity(keys, languages)];
  const bases = new Set([...keys.values()].flatMap((of) => [...of.keys()].map(baseOf)));
  const used: Wanted[] = [];
  const asking = [
    ...sources.map((source) => ({ path: source.path, ...read(source) })),
    ...named.map(({ path, key }) => ({ path, wanted: [asked({ parts: [key] }, [], true)], words: [] })),
  ];
  for (const { path, wanted, words } of asking) {
    problems.push(...words);
    for (const each of wanted) {
      used.push(each);
      const asked = each.namespaces.length > 0 ? each.namespaces : [...namespaces];
      if (!each.certain || asked.some((namespace) => matches(each, namespace, bases))) continue;
      problems.push(
        `${path}: ${each.shown} is in no text file (${asked.length > 4 ? "any namespace" : asked.join(", ")}).`,
      );
    }
  }
  for (const key of bases) {
    const [namespace, name] = split(key);
    const known = used.some(
      (each) =>
        (each.namespaces.length === 0 || !each.certain || each.namespaces.includes(namespace)) &&
        each.pattern.test(name) &&
        (each.fixed === null || each.fixed === namespace),
    );
    if (!known) problems.push(`${key} is used nowhere.`);
  }
  return problems;
}

interface Wanted {
  /** Where it is looked up; empty where the code does not tell. */
  readonly namespaces: readonly string[];
  /** The namespace that is written before the key. */
  readonly fixed: string | null;
  readonly pattern: RegExp;
  readonly shown: string;
  /**
   * It is certainly a key: the argument of `t`. Other words of the code only count as possible
   * uses.
   */
  readonly certain: boolean;
}

function matches({ pattern, fixed }: Wanted, namespace: string, bases: ReadonlySet<string>): boolean {
  for (const key of bases) {
    const [of, name] = split(key);
    if (of === (fixed ?? namespace) && pattern.test(name)) return true;
  }
  return false;
}

function* parity(
  keys: ReadonlyMap<string, ReadonlyMap<string, string>>,
  languages: readonly string[],
): Generator<string> {
  const all = new Set([...keys.values()].flatMap((of) => [...of.keys()].map(baseOf)));
  for (const language of languages) {
    const mine = keys.get(language) ?? new Map<string, string>();
    const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
    for (const base of all) {
      const forms = [...mine.keys()].filter((key) => baseOf(key) === base);
      if (forms.length === 0) yield `${base} is missing in ${language}.`;
      const isPlural = forms.some((key) => plural.test(key));
      for (const category of isPlural ? categories : []) {
        if (!mine.has(`${base}_${category}`)) yield `${base}_${category} is missing in ${language}.`;
      }
      for (const key of forms) if ((mine.get(key) ?? "").trim() === "") yield `${key} is empty in ${language}.`;
    }
  }
  const [first, ...others] = languages;
  for (const base of all) {
    const wanted = placeholders(keys.get(first ?? ""), base);
    for (const language of others) {
      const found = placeholders(keys.get(language), base);
      if (found !== "" || wanted !== "")
        if (found !== wanted)
          yield `${base} has other placeholders in ${language} (${found || "none"}) than in ${first ?? ""} (${wanted || "none"}).`;
    }
  }
}

function placeholders(of: ReadonlyMap<string, string> | undefined, base: string): string {
  const names = new Set<string>();
  for (const [key, text] of of ?? []) {
    if (baseOf(key) !== base) continue;
    for (const [, name] of text.matchAll(/\{\{\s*([a-zA-Z_]+)[^}]*\}\}|<([a-zA-Z0-9]+)>/g))
      if (name !== undefined && name !== "count") names.add(name);
  }
  return [...names].sort().join(", ");
}

function read({ path, text }: SourceFile): { wanted: Wanted[]; words: string[] } {
  const file = ts.createSourceFile(
    path,
    text,
    ts.ScriptTarget.Latest,
    true,
    path.endsWith(".tsx") ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
  );
  const namespaces: string[] = [];
  const wanted: Wanted[] = [];
  const words: string[] = [];
  const where = (node: ts.Node): string =>
    `${path}:${String(file.getLineAndCharacterOfPosition(node.getStart()).line + 1)}`;

  const findNamespaces = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && nameOf(node.expression) === "useTranslation") {
      const [first] = node.arguments;
      for (const each of first !== undefined && ts.isArrayLiteralExpression(first) ? first.elements : [first]) {
        if (each !== undefined && ts.isStringLiteralLike(each)) namespaces.push(each.text);
      }
    }
    ts.forEachChild(node, findNamespaces);
  };
  findNamespaces(file);

  const keysIn = (node: ts.Expression): void => {
    if (ts.isConditionalExpression(node)) {
      keysIn(node.whenTrue);
      keysIn(node.whenFalse);
    } else if (ts.isParenthesizedExpression(node)) {
      keysIn(node.expression);
    } else if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) {
      keysIn(node.right);
    } else {
      const literal = literalOf(node);
      if (literal !== null) wanted.push(asked(literal, namespaces, true));
    }
  };
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && nameOf(node.expression) === "t" && node.arguments[0] !== undefined)
      keysIn(node.arguments[0]);
    if (
      ts.isJsxAttribute(node) &&
      node.name.getText() === "i18nKey" &&
      node.initializer !== undefined &&
      ts.isStringLiteral(node.initializer)
    ) {
      wanted.push(asked({ parts: [node.initializer.text] }, namespaces, true));
    }
    const literal = ts.isExpression(node) ? literalOf(node) : null;
    // Outside of a call of `t`, a template that begins with a hole would fit anything.
    if (literal !== null && (literal.parts.length === 1 || (literal.parts[0] ?? "").length > 2))
      wanted.push(asked(literal, [], false));
    if (ts.isJsxText(node) && /\p{L}{2}/u.test(node.text))
      words.push(`${where(node)}: "${node.text.trim()}" is written in the code, so it has one language only.`);
    if (
      ts.isJsxAttribute(node) &&
      attributesThatSpeak.has(node.name.getText()) &&
      node.initializer !== undefined &&
      ts.isStringLiteral(node.initializer) &&
      /\p{L}{2}/u.test(node.initializer.text)
    ) {
      words.push(
        `${where(node)}: ${node.name.getText()}="${node.initializer.text}" is written in the code, so it has one language only.`,
      );
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { wanted, words };
}

/** The fixed parts of a literal or template; a hole is between each two of them. */
function literalOf(node: ts.Expression): { parts: string[] } | null {
  if (ts.isStringLiteralLike(node)) return { parts: [node.text] };
  if (ts.isTemplateExpression(node))
    return { parts: [node.head.text, ...node.templateSpans.map((span) => span.literal.text)] };
  return null;
}

function asked({ parts }: { parts: readonly string[] }, namespaces: readonly string[], certain: boolean): Wanted {
  const [head = "", ...rest] = parts;
  const [, fixed = null, key = head] = /^([a-z][a-z-]*):(.*)$/s.exec(head) ?? [];
  const pattern = new RegExp(`^${[key, ...rest].map(escape).join(".+")}$`, "s");
  return { namespaces: fixed === null ? namespaces : [fixed], fixed, pattern, shown: `"${parts.join("…")}"`, certain };
}

function nameOf(node: ts.Expression): string | null {
  if (ts.isIdentifier(node)) return node.text;
  return ts.isPropertyAccessExpression(node) ? node.name.text : null;
}

function* flatten(content: unknown, prefix = ""): Generator<[string, string]> {
  if (typeof content === "string") {
    yield [prefix, content];
  } else if (typeof content === "object" && content !== null) {
    for (const [key, value] of Object.entries(content)) yield* flatten(value, prefix === "" ? key : `${prefix}.${key}`);
  }
}

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const baseOf = (key: string): string => key.replace(plural, "");
const split = (key: string): [string, string] => [key.slice(0, key.indexOf(":")), key.slice(key.indexOf(":") + 1)];
