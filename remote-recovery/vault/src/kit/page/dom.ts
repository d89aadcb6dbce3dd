import { speak, type Values } from "./speech.ts";
import type { TextKey } from "./texts.ts";

type Child = Node | string | null;

/**
 * An element with attributes and children. What comes from a secret goes in as text alone, never as
 * markup.
 */
export function make<Tag extends keyof HTMLElementTagNameMap>(
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
export function spoken<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  key: TextKey,
  values: Values = {},
  attributes: Readonly<Record<string, string>> = {},
): HTMLElementTagNameMap[Tag] {
  const element = make(tag, attributes);
  say(element, key, values);
  return element;
}

/** Puts a text of the page into an element, in place of what is there. */
export function say(element: HTMLElement, key: TextKey, values: Values = {}): void {
  speak(element, (text) => {
    element.textContent = text(key, values);
  });
}

/** Empties an element that speaks. */
export function quieten(element: HTMLElement): void {
  speak(element, () => {
    element.textContent = "";
  });
}

export function button(
  key: TextKey,
  onClick: () => void,
  attributes: Readonly<Record<string, string>> = {},
): HTMLButtonElement {
  const element = spoken("button", key, {}, { type: "button", ...attributes });
  element.addEventListener("click", onClick);
  return element;
}
