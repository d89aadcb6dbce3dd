/** Texts in the chosen language: each place is written anew when it changes. */
import { texts, type Language, type TextKey } from "./texts.ts";

export type Values = Readonly<Record<string, string>>;
type Say = (text: (key: TextKey, values?: Values) => string, language: Language) => void;

let language: Language = navigator.language.toLowerCase().startsWith("es") ? "es" : "en";
const said = new Map<Node, Map<string, Say>>();

export function currentLanguage(): Language {
  return language;
}

export function text(key: TextKey, values: Values = {}): string {
  return texts[language][key].replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? "");
}

/**
 * Writes what depends on the language into a node, now and whenever the language changes. `place`:
 * one of several in the node.
 */
export function speak(node: Node, say: Say, place = "text"): void {
  const places = said.get(node) ?? new Map<string, Say>();
  said.set(node, places.set(place, say));
  say(text, language);
}

/** Texts of nodes that have left the page are not written any more. */
export function changeLanguage(): void {
  language = language === "en" ? "es" : "en";
  for (const [node, places] of said) {
    if (!node.isConnected) said.delete(node);
    else for (const say of places.values()) say(text, language);
  }
}
