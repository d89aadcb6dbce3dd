import { bindText, type TextValues } from "./localized-text.ts";
import type { TextKey } from "./texts.ts";

type Child = Node | string | null;

/** Creates an element. Adds strings as text, never as markup. */
export function createElement<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Wraps a user's own text: never translated, and unable to reorder the text around it. */
export function createVerbatim(text: string): HTMLElement {
  return createElement("bdi", { translate: "no" }, text);
}

export function createTextElement<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  key: TextKey,
  values: TextValues = {},
  attributes: Readonly<Record<string, string>> = {},
): HTMLElementTagNameMap[Tag] {
  const element = createElement(tag, attributes);
  setText(element, key, values);
  return element;
}

/** Values, such as the name of a file, are {@link createVerbatim}. */
export function setText(element: HTMLElement, key: TextKey, values: TextValues = {}): void {
  const marked = Object.entries(values).map(([name, value]) => [
    name,
    `\u2068${value.replace(bidiControls, "")}\u2069`,
  ]);
  const markedValues = Object.fromEntries(marked) as TextValues;
  bindText(element, (translate) => {
    const parts = translate(key, markedValues).split(/[\u2068\u2069]/);
    element.replaceChildren(...parts.map((part, index) => (index % 2 === 0 ? part : createVerbatim(part))));
  });
}

/** Unicode controls that could end the isolation of a value. */
const bidiControls = /[\u202A-\u202E\u2066-\u2069]/g;

/**
 * Empties an element that {@link setText} filled. It then stays empty after a change of language.
 */
export function clearText(element: HTMLElement): void {
  bindText(element, () => {
    element.textContent = "";
  });
}

export function createButton(
  key: TextKey,
  onClick: () => void,
  attributes: Readonly<Record<string, string>> = {},
): HTMLButtonElement {
  const element = createTextElement("button", key, {}, { type: "button", ...attributes });
  element.addEventListener("click", onClick);
  return element;
}
