import type { Field } from "./field.ts";
import { humanizeName, isEmptyValue, toFields } from "./item-values.ts";

interface Member {
  readonly name: string;
  readonly label: string;
  readonly value: unknown;
}

/**
 * The members of an object, or the cells of a row. A reader takes the members that it knows. The
 * others, with unknown names or types, stay in {@link rest}, so that no value is lost.
 */
export class Members {
  #members: Member[];
  readonly #leftOut: Set<string>;
  readonly #nested: { readonly sections: readonly string[]; readonly members: Members }[] = [];

  /** @param leftOut collects the names of the members that {@link skip} omits */
  constructor(members: readonly Member[], leftOut: Set<string>) {
    this.#members = members.filter(({ value }) => !isEmptyValue(value));
    this.#leftOut = leftOut;
  }

  /** Null if the value is not an object. */
  static of(raw: unknown, leftOut: Set<string>): Members | null {
    return isObject(raw)
      ? new Members(
          Object.entries(raw).map(([name, value]: [string, unknown]) => ({ name, label: humanizeName(name), value })),
          leftOut,
        )
      : null;
  }

  has(name: string): boolean {
    return this.#members.some((member) => member.name === name);
  }

  /** The remaining members, without taking them. */
  peek(): readonly Member[] {
    return [...this.#members];
  }

  /** Takes the first member of this name that is a text, a number or a boolean. */
  text(name: string): string | null {
    return this.#take(name, isScalar)?.toString() ?? null;
  }

  /** Takes all such members of these names. */
  texts(...names: readonly string[]): string[] {
    return names.flatMap((name) => {
      const texts: string[] = [];
      for (let text = this.text(name); text !== null; text = this.text(name)) texts.push(text);
      return texts;
    });
  }

  /** Takes the member if it has one of these values. */
  takeIf(name: string, ...values: readonly string[]): boolean {
    return this.#take(name, (value): value is string => typeof value === "string" && values.includes(value)) !== null;
  }

  /** Takes a known text and returns its meaning. Omits any other value, by name. */
  lookUp<T>(name: string, meanings: ReadonlyMap<string, T>): T | undefined {
    const meaning = [...meanings].find(([text]) => this.takeIf(name, text))?.[1];
    if (meaning === undefined && this.#members.some((member) => member.name === name && isScalar(member.value)))
      this.skip(name);
    return meaning;
  }

  integer(name: string): number | null {
    return this.#take(name, (value): value is number => Number.isInteger(value));
  }

  /** Takes a boolean; false if there is none. */
  flag(name: string): boolean {
    return this.#take(name, (value) => typeof value === "boolean") === true;
  }

  /** Takes the elements of a list. */
  list(name: string): readonly unknown[] {
    return this.#take(name, (value): value is unknown[] => Array.isArray(value)) ?? [];
  }

  /** Takes the texts of a list; other elements stay in the list. */
  textList(name: string): string[] {
    return this.#partition(name, isScalar).map(String);
  }

  /**
   * Takes the objects of a list; other elements stay in the list. Members that are not taken from
   * the objects stay in {@link rest}.
   */
  objectList(name: string): Members[] {
    return this.#partition(name, isObject).flatMap((element) => {
      const members = Members.of(element, this.#leftOut);
      if (members !== null) this.#nested.push({ sections: [humanizeName(name)], members });
      return members ?? [];
    });
  }

  /** Takes a field that the person has named, if it has a value. */
  named(nameMember: string, valueMember: string): Field[] {
    const value = this.text(valueMember);
    if (value === null && this.has(valueMember)) return [];
    const name = this.text(nameMember);
    if (value !== null) return [{ name: { own: name ?? "…" }, value }];
    if (name !== null) this.#leftOut.add(name); // the field has no value
    return [];
  }

  /**
   * Takes an object; an empty one if there is none. Members that are not taken from it stay in
   * {@link rest}.
   */
  object(name: string): Members {
    const members =
      Members.of(
        this.#take(name, (value) => isObject(value)),
        this.#leftOut,
      ) ?? new Members([], this.#leftOut);
    this.#nested.push({ sections: [humanizeName(name)], members });
    return members;
  }

  /**
   * Omits members for the program's own use. The person is told the names of those that are set.
   */
  skip(...names: readonly string[]): void {
    for (const { name, label, value } of this.#members)
      if (names.includes(name) && !unsetValues.includes(value)) this.#leftOut.add(label);
    this.#members = this.#members.filter(({ name }) => !names.includes(name));
  }

  /** Takes all remaining members, in order. */
  takeAll(): readonly Member[] {
    const members = this.#members;
    this.#members = [];
    return members;
  }

  /** Takes all members that `isWanted` accepts. */
  takeWhere(isWanted: (member: Member) => boolean): readonly Member[] {
    const taken = this.#members.filter(isWanted);
    this.#members = this.#members.filter((member) => !taken.includes(member));
    return taken;
  }

  /** Takes the remaining members as fields. */
  rest(sections: readonly string[] = []): Field[] {
    return [
      ...this.takeAll().flatMap(({ label, value }) => toFields(label, value, sections)),
      ...this.#nested.flatMap((nested) => nested.members.rest([...sections, ...nested.sections])),
    ];
  }

  #take<T>(name: string, accepts: (value: unknown) => value is T): T | null {
    const index = this.#members.findIndex((member) => member.name === name && accepts(member.value));
    const [taken] = index < 0 ? [] : this.#members.splice(index, 1);
    return taken !== undefined && accepts(taken.value) ? taken.value : null;
  }

  #partition<T>(name: string, accepts: (value: unknown) => value is T): T[] {
    const index = this.#members.findIndex((member) => member.name === name && Array.isArray(member.value));
    const elements = index < 0 ? [] : this.list(name);
    const others = elements.filter((element) => !accepts(element) && !isEmptyValue(element));
    if (others.length > 0) this.#members.splice(index, 0, { name, label: humanizeName(name), value: others });
    return elements.filter(accepts);
  }
}

/** Values that programs write for members that are not set. */
const unsetValues: readonly unknown[] = [false, 0, "0", "false"];

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isScalar(value: unknown): value is string | number | boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}
