/**
 * Compares code and texts: every used key exists and every key is used, in all languages, with the
 * same placeholders; no text is hard-coded.
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

const pluralSuffix = /_(zero|one|two|few|many|other)$/;
const textAttributes = new Set(["aria-label", "aria-description", "alt", "title", "placeholder", "label"]);

/** `<namespace>:<key>` of a text that is referenced outside the code. */
export interface TextReference {
  readonly path: string;
  readonly key: string;
}

export function findTextProblems(
  sources: readonly SourceFile[],
  texts: readonly TextFile[],
  languages: readonly string[],
  references: readonly TextReference[] = [],
): string[] {
  const textsByLanguage = new Map<string, Map<string, string>>(); // language -> "ns:key" -> text
  for (const language of languages) textsByLanguage.set(language, new Map());
  const namespaces = new Set<string>();
  for (const { language, namespace, content } of texts) {
    namespaces.add(namespace);
    for (const [key, value] of flattenTexts(content)) textsByLanguage.get(language)?.set(`${namespace}:${key}`, value);
  }

  const problems = [...checkParity(textsByLanguage, languages)];
  const allKeys = new Set(
    [...textsByLanguage.values()].flatMap((languageTexts) => [...languageTexts.keys()].map(stripPluralSuffix)),
  );
  const allUsages: KeyUsage[] = [];
  const usagesBySource = [
    ...sources.map((source) => ({ path: source.path, ...scanSource(source) })),
    ...references.map(({ path, key }) => ({ path, usages: [toUsage({ parts: [key] }, [], true)], hardcodedTexts: [] })),
  ];
  for (const { path, usages, hardcodedTexts } of usagesBySource) {
    problems.push(...hardcodedTexts);
    for (const usage of usages) {
      allUsages.push(usage);
      const searchedNamespaces = usage.namespaces.length > 0 ? usage.namespaces : [...namespaces];
      if (!usage.isCertain || searchedNamespaces.some((namespace) => matchesAnyKey(usage, namespace, allKeys)))
        continue;
      problems.push(
        `${path}: ${usage.displayText} is in no text file (${searchedNamespaces.length > 4 ? "any namespace" : searchedNamespaces.join(", ")}).`,
      );
    }
  }
  for (const key of allKeys) {
    const [namespace, name] = splitKey(key);
    const isUsed = allUsages.some(
      (usage) =>
        (usage.namespaces.length === 0 || !usage.isCertain || usage.namespaces.includes(namespace)) &&
        usage.pattern.test(name) &&
        (usage.explicitNamespace === null || usage.explicitNamespace === namespace),
    );
    if (!isUsed) problems.push(`${key} is used nowhere.`);
  }
  return problems;
}

interface KeyUsage {
  /** Namespaces to search; empty when the code names none. */
  readonly namespaces: readonly string[];
  /** The prefix of the key, if any. */
  readonly explicitNamespace: string | null;
  readonly pattern: RegExp;
  readonly displayText: string;
  /** True for an argument of `t`. Other strings count only as possible uses. */
  readonly isCertain: boolean;
}

function matchesAnyKey(
  { pattern, explicitNamespace }: KeyUsage,
  namespace: string,
  allKeys: ReadonlySet<string>,
): boolean {
  for (const key of allKeys) {
    const [keyNamespace, name] = splitKey(key);
    if (keyNamespace === (explicitNamespace ?? namespace) && pattern.test(name)) return true;
  }
  return false;
}

function* checkParity(
  textsByLanguage: ReadonlyMap<string, ReadonlyMap<string, string>>,
  languages: readonly string[],
): Generator<string> {
  const allKeys = new Set(
    [...textsByLanguage.values()].flatMap((languageTexts) => [...languageTexts.keys()].map(stripPluralSuffix)),
  );
  for (const language of languages) {
    const ownTexts = textsByLanguage.get(language) ?? new Map<string, string>();
    const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
    for (const baseKey of allKeys) {
      const forms = [...ownTexts.keys()].filter((key) => stripPluralSuffix(key) === baseKey);
      if (forms.length === 0) yield `${baseKey} is missing in ${language}.`;
      const isPlural = forms.some((key) => pluralSuffix.test(key));
      for (const category of isPlural ? categories : []) {
        if (!ownTexts.has(`${baseKey}_${category}`)) yield `${baseKey}_${category} is missing in ${language}.`;
      }
      for (const key of forms) if ((ownTexts.get(key) ?? "").trim() === "") yield `${key} is empty in ${language}.`;
    }
  }
  const [referenceLanguage, ...otherLanguages] = languages;
  for (const baseKey of allKeys) {
    const expected = listPlaceholders(textsByLanguage.get(referenceLanguage ?? ""), baseKey);
    for (const language of otherLanguages) {
      const actual = listPlaceholders(textsByLanguage.get(language), baseKey);
      if (actual !== "" || expected !== "")
        if (actual !== expected)
          yield `${baseKey} has other placeholders in ${language} (${actual || "none"}) than in ${referenceLanguage ?? ""} (${expected || "none"}).`;
    }
  }
}

function listPlaceholders(texts: ReadonlyMap<string, string> | undefined, baseKey: string): string {
  const names = new Set<string>();
  for (const [key, text] of texts ?? []) {
    if (stripPluralSuffix(key) !== baseKey) continue;
    for (const [, name] of text.matchAll(/\{\{\s*([a-zA-Z_]+)[^}]*\}\}|<([a-zA-Z0-9]+)>/g))
      if (name !== undefined && name !== "count") names.add(name);
  }
  return [...names].sort().join(", ");
}

function scanSource({ path, text }: SourceFile): { usages: KeyUsage[]; hardcodedTexts: string[] } {
  const file = ts.createSourceFile(
    path,
    text,
    ts.ScriptTarget.Latest,
    true,
    path.endsWith(".tsx") ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
  );
  const namespaces: string[] = [];
  const usages: KeyUsage[] = [];
  const hardcodedTexts: string[] = [];
  const formatLocation = (node: ts.Node): string =>
    `${path}:${String(file.getLineAndCharacterOfPosition(node.getStart()).line + 1)}`;

  const findNamespaces = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && getIdentifierName(node.expression) === "useTranslation") {
      const [argument] = node.arguments;
      for (const element of argument !== undefined && ts.isArrayLiteralExpression(argument)
        ? argument.elements
        : [argument]) {
        if (element !== undefined && ts.isStringLiteralLike(element)) namespaces.push(element.text);
      }
    }
    ts.forEachChild(node, findNamespaces);
  };
  findNamespaces(file);

  const collectKeys = (node: ts.Expression): void => {
    if (ts.isConditionalExpression(node)) {
      collectKeys(node.whenTrue);
      collectKeys(node.whenFalse);
    } else if (ts.isParenthesizedExpression(node)) {
      collectKeys(node.expression);
    } else if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) {
      collectKeys(node.right);
    } else {
      const literal = parseLiteral(node);
      if (literal !== null) usages.push(toUsage(literal, namespaces, true));
    }
  };
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && getIdentifierName(node.expression) === "t" && node.arguments[0] !== undefined)
      collectKeys(node.arguments[0]);
    if (
      ts.isJsxAttribute(node) &&
      node.name.getText() === "i18nKey" &&
      node.initializer !== undefined &&
      ts.isStringLiteral(node.initializer)
    ) {
      usages.push(toUsage({ parts: [node.initializer.text] }, namespaces, true));
    }
    const literal = ts.isExpression(node) ? parseLiteral(node) : null;
    // Outside of a call of `t`, a template that starts with a placeholder would match any key.
    if (literal !== null && (literal.parts.length === 1 || (literal.parts[0] ?? "").length > 2))
      usages.push(toUsage(literal, [], false));
    if (ts.isJsxText(node) && /\p{L}{2}/u.test(node.text))
      hardcodedTexts.push(
        `${formatLocation(node)}: "${node.text.trim()}" is written in the code, so it has one language only.`,
      );
    if (
      ts.isJsxAttribute(node) &&
      textAttributes.has(node.name.getText()) &&
      node.initializer !== undefined &&
      ts.isStringLiteral(node.initializer) &&
      /\p{L}{2}/u.test(node.initializer.text)
    ) {
      hardcodedTexts.push(
        `${formatLocation(node)}: ${node.name.getText()}="${node.initializer.text}" is written in the code, so it has one language only.`,
      );
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { usages, hardcodedTexts };
}

/** Fixed parts, which placeholders separate. */
function parseLiteral(node: ts.Expression): { parts: string[] } | null {
  if (ts.isStringLiteralLike(node)) return { parts: [node.text] };
  if (ts.isTemplateExpression(node))
    return { parts: [node.head.text, ...node.templateSpans.map((span) => span.literal.text)] };
  return null;
}

function toUsage({ parts }: { parts: readonly string[] }, namespaces: readonly string[], isCertain: boolean): KeyUsage {
  const [firstPart = "", ...rest] = parts;
  const [, explicitNamespace = null, key = firstPart] = /^([a-z][a-z-]*):(.*)$/s.exec(firstPart) ?? [];
  const pattern = new RegExp(`^${[key, ...rest].map(escapeRegExp).join(".+")}$`, "s");
  return {
    namespaces: explicitNamespace === null ? namespaces : [explicitNamespace],
    explicitNamespace,
    pattern,
    displayText: `"${parts.join("…")}"`,
    isCertain,
  };
}

function getIdentifierName(node: ts.Expression): string | null {
  if (ts.isIdentifier(node)) return node.text;
  return ts.isPropertyAccessExpression(node) ? node.name.text : null;
}

function* flattenTexts(content: unknown, prefix = ""): Generator<[string, string]> {
  if (typeof content === "string") {
    yield [prefix, content];
  } else if (typeof content === "object" && content !== null) {
    for (const [key, value] of Object.entries(content))
      yield* flattenTexts(value, prefix === "" ? key : `${prefix}.${key}`);
  }
}

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const stripPluralSuffix = (key: string): string => key.replace(pluralSuffix, "");
const splitKey = (key: string): [string, string] => [key.slice(0, key.indexOf(":")), key.slice(key.indexOf(":") + 1)];
