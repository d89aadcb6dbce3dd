import { decodeEntities } from "./html-entities.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import { maxDepth } from "./limits.ts";

/** An element with its content. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: XmlElement[];
  text: string;
  /** Whether a reader has used the text. */
  isTaken: boolean;
}

/** Matches a comment, an instruction, CDATA, an end tag, a start tag with attributes, or text. */
const tokenPattern =
  /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!\[CDATA\[([\s\S]*?)\]\]>|<\/([^\s<>/]+)\s*>|<([^\s<>/!?][^\s<>/]*)((?:\s+[^\s=<>/]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|([^<]+)/y;
const attributePattern = /([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/**
 * Parses a document without a DTD: defines no entities and loads nothing. Accepts characters that
 * XML forbids, because programs write them into values.
 *
 * @throws ImportRefusedError `damaged`
 */
export function parseXml(text: string): XmlElement {
  const root = createElement("", new Map());
  const openElements = [root];
  const normalized = text.replaceAll(/\r\n?/g, "\n"); // XML 1.0, 2.11
  tokenPattern.lastIndex = 0;
  for (let position = 0; position < normalized.length; position = tokenPattern.lastIndex) {
    const [token, cdata, end, start, attributes = "", slash, characters] = tokenPattern.exec(normalized) ?? [];
    const current = openElements[openElements.length - 1] ?? root;
    if (token === undefined) throw new ImportRefusedError("damaged");
    if (cdata !== undefined) current.text += cdata;
    else if (characters !== undefined) current.text += decodeEntities(characters);
    else if (end !== undefined) {
      if (current === root || current.name !== end) throw new ImportRefusedError("damaged");
      openElements.pop();
    } else if (start !== undefined) {
      if (openElements.length > maxDepth) throw new ImportRefusedError("damaged");
      const element = createElement(start, parseAttributes(attributes));
      current.children.push(element);
      if (slash !== "/") openElements.push(element);
    }
  }
  const [document] = root.children;
  if (document === undefined || openElements.length > 1) throw new ImportRefusedError("damaged");
  return document;
}

function createElement(name: string, attributes: XmlElement["attributes"]): XmlElement {
  return { name, attributes, children: [], text: "", isTaken: false };
}

function parseAttributes(text: string): ReadonlyMap<string, string> {
  return new Map(
    [...text.matchAll(attributePattern)].map(([, name = "", double, single]) => [
      name,
      decodeEntities(double ?? single ?? ""),
    ]),
  );
}

export function findChild(element: XmlElement | undefined, name: string): XmlElement | undefined {
  return element?.children.find((candidate) => candidate.name === name);
}

export function findChildren(element: XmlElement | undefined, name: string): XmlElement[] {
  return element?.children.filter((candidate) => candidate.name === name) ?? [];
}

/** Reads a text without marking it as used. */
export function getChildText(element: XmlElement | undefined, name: string): string {
  return findChild(element, name)?.text ?? "";
}

/** Reads a text and marks it as used. Unused texts become fields of their entry. */
export function takeChildText(element: XmlElement | undefined, name: string): string {
  const child = findChild(element, name);
  if (child !== undefined) child.isTaken = true;
  return child?.text ?? "";
}
