import { bindText, type TextValues } from "./localized-text.ts";
import type { TextKey } from "./texts.ts";

type Child = Node | string | null;

/**
 * An element with attributes and children. What comes from a secret goes in as text alone, never as
 * markup.
 */
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

/** An element with a text of the page. */
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

/** Puts a text of the page into an element, in place of what is there. */
export function setText(element: HTMLElement, key: TextKey, values: TextValues = {}): void {
  bindText(element, (translate) => {
    element.textContent = translate(key, values);
  });
}

/** Empties an element that speaks. */
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
