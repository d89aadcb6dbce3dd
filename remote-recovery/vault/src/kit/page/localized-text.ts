/** Texts in the chosen language, updated when the language changes. */
import { texts, type Language, type TextKey } from "./texts.ts";

export type TextValues = Readonly<Record<string, string>>;
type TextWriter = (text: (key: TextKey, values?: TextValues) => string, language: Language) => void;

let language: Language = navigator.language.toLowerCase().startsWith("es") ? "es" : "en";
const textWriters = new Map<Node, Map<string, TextWriter>>();

/** Locale of dates and numbers. */
export function getLocale(): "en-GB" | "es" {
  return language === "en" ? "en-GB" : "es"; // British English: the day comes first
}

function translate(key: TextKey, values: TextValues = {}): string {
  return texts[language][key].replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? "");
}

/**
 * Writes a text that depends on the language into a node, now and after each change of language.
 * `target` distinguishes several writers of one node.
 */
export function bindText(node: Node, write: TextWriter, target = "text"): void {
  const targets = textWriters.get(node) ?? new Map<string, TextWriter>();
  textWriters.set(node, targets.set(target, write));
  write(translate, language);
}

/** Switches the language. Forgets the writers of nodes that have left the page. */
export function toggleLanguage(): void {
  language = language === "en" ? "es" : "en";
  for (const [node, targets] of textWriters) {
    if (!node.isConnected) textWriters.delete(node);
    else for (const write of targets.values()) write(translate, language);
  }
}
