/** Texts in the chosen language: each place is written anew when it changes. */
import { texts, type Language, type TextKey } from "./texts.ts";

export type TextValues = Readonly<Record<string, string>>;
type TextWriter = (text: (key: TextKey, values?: TextValues) => string, language: Language) => void;

let language: Language = navigator.language.toLowerCase().startsWith("es") ? "es" : "en";
const textWriters = new Map<Node, Map<string, TextWriter>>();

export function getLanguage(): Language {
  return language;
}

function translate(key: TextKey, values: TextValues = {}): string {
  return texts[language][key].replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? "");
}

/**
 * Writes what depends on the language into a node, now and whenever the language changes. `target`:
 * one of several in the node.
 */
export function bindText(node: Node, write: TextWriter, target = "text"): void {
  const targets = textWriters.get(node) ?? new Map<string, TextWriter>();
  textWriters.set(node, targets.set(target, write));
  write(translate, language);
}

/** Texts of nodes that have left the page are not written any more. */
export function toggleLanguage(): void {
  language = language === "en" ? "es" : "en";
  for (const [node, targets] of textWriters) {
    if (!node.isConnected) textWriters.delete(node);
    else for (const write of targets.values()) write(translate, language);
  }
}
