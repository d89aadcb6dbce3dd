import type { Field } from "./field.ts";
import { maxDepth } from "./limits.ts";

/**
 * Turns a value of any depth into fields. Puts a single value under `label`, and members of an
 * object in a section named `label`. Joins a value nested deeper than `maxDepth` into one field; no
 * known program nests that deep.
 */
export function toFields(label: string, value: unknown, sections: readonly string[] = [], depth = 0): Field[] {
  if (isEmptyValue(value)) return [];
  const toField = (text: string): Field => ({
    name: { own: label },
    value: text,
    ...(sections.length > 0 ? { sections } : {}),
  });
  if (typeof value !== "object" || value === null) return [toField(stringifyValue(value))];
  if (depth > maxDepth) return [toField(listTexts(value).join("\n"))];
  if (Array.isArray(value)) return value.flatMap((element: unknown) => toFields(label, element, sections, depth + 1));
  return Object.entries(value).flatMap(([name, member]) =>
    toFields(humanizeName(name), member, [...sections, label], depth + 1),
  );
}

/** Lists names and values without recursion, because the nesting may be very deep. */
export function listTexts(value: unknown): string[] {
  const [texts, open]: [string[], unknown[]] = [[], [value]];
  while (open.length > 0) {
    const next = open.pop();
    if (Array.isArray(next)) for (const element of next.toReversed() as unknown[]) open.push(element);
    else if (typeof next === "object" && next !== null)
      for (const [name, member] of Object.entries(next).toReversed() as [string, unknown][]) open.push(member, name);
    else if (!isEmptyValue(next)) texts.push(stringifyValue(next));
  }
  return texts;
}

/** Whether a value holds nothing that a person has written. */
export function isEmptyValue(value: unknown): boolean {
  if (typeof value === "object" && value !== null)
    return Object.values(value).every((member) => member === null || member === "");
  return value === null || value === undefined || (typeof value === "string" && value.trim() === "");
}

/** Turns the name of a member into words: `firstName` into `First Name`. */
export function humanizeName(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/^./u, (letter) => letter.toUpperCase());
}

/** Formats a Unix time in seconds or a date text as `YYYY-MM-DD`. Returns other text unchanged. */
export function formatDay(time: string | number | null | undefined): string | null {
  if (time == null || time === "") return null;
  const date = new Date(typeof time === "number" || /^\d+$/.test(time) ? Number(time) * 1000 : time);
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString().slice(0, 10);
}

/** The first text that is not blank. */
export function firstNonEmpty(...texts: readonly (string | null | undefined)[]): string | null {
  return texts.find((text) => text != null && text.trim() !== "") ?? null;
}

/** Text of any JSON value. */
function stringifyValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
