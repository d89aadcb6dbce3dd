import { base16 } from "@scure/base";

import { decodeBase64 } from "./keepass-fields.ts";
import { findChildren, getChildText, type XmlElement } from "./xml.ts";

/** A reference to a field of another entry, which is found by the text in one of its fields. */
const referencePattern = /\{REF:([TUPANI])@([TUPANIO]):([^{}]*)\}/gi;
const [maxDepth, maxSearches] = [8, 2000];
const keysByLetter: ReadonlyMap<string, string> = new Map([
  ["T", "Title"],
  ["U", "UserName"],
  ["P", "Password"],
  ["A", "URL"],
  ["N", "Notes"],
]);

interface ReferencedEntry {
  readonly uuidHex: string;
  readonly strings: ReadonlyMap<string, string>;
}

/** Replaces KeePass's references by the values that they refer to. */
export class ReferenceResolver {
  readonly #entries: readonly ReferencedEntry[];
  readonly #entriesById: ReadonlyMap<string, ReferencedEntry>;
  #searches = 0;

  constructor(groups: readonly XmlElement[]) {
    this.#entries = groups.flatMap(listEntries);
    this.#entriesById = new Map(this.#entries.map((entry) => [entry.uuidHex, entry]));
  }

  /** @param onUnresolved called for a reference to nothing, which stays unchanged */
  resolve(text: string, onUnresolved: () => void, depth = 0): string {
    if (!text.includes("{REF:") && !text.includes("{ref:")) return text;
    return text.replace(referencePattern, (reference, wanted: string, by: string, searched: string) => {
      const entry = depth < maxDepth ? this.#find(by.toUpperCase(), searched) : undefined;
      const value =
        wanted.toUpperCase() === "I"
          ? entry?.uuidHex
          : entry?.strings.get(keysByLetter.get(wanted.toUpperCase()) ?? "");
      if (value === undefined) {
        onUnresolved();
        return reference;
      }
      return this.resolve(value, onUnresolved, depth + 1);
    });
  }

  #find(by: string, searched: string): ReferencedEntry | undefined {
    if (by === "I") return this.#entriesById.get(searched.toUpperCase());
    this.#searches += 1;
    if (this.#searches > maxSearches) return undefined;
    const wanted = searched.toLowerCase();
    const key = keysByLetter.get(by);
    return this.#entries.find(({ strings }) =>
      key === undefined
        ? [...strings].some(([name, value]) => !isStandardKey(name) && value.toLowerCase().includes(wanted))
        : strings.get(key)?.toLowerCase().includes(wanted) === true,
    );
  }
}

function isStandardKey(key: string): boolean {
  return [...keysByLetter.values()].includes(key);
}

function listEntries(group: XmlElement): ReferencedEntry[] {
  return [
    ...findChildren(group, "Entry").map((entry) => ({
      uuidHex: base16.encode(decodeBase64(getChildText(entry, "UUID")) ?? new Uint8Array()),
      strings: new Map(
        findChildren(entry, "String").map((string) => [getChildText(string, "Key"), getChildText(string, "Value")]),
      ),
    })),
    ...findChildren(group, "Group").flatMap(listEntries),
  ];
}
