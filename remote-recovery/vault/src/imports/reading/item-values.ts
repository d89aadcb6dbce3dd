import type { z } from "zod";

import type { Field } from "./field.ts";
import { maxDepth } from "./limits.ts";

/**
 * An item of a file by its schema, with the members that the schema does not name beside.
 *
 * @returns null for what does not fit, or is nested deeper than any program writes.
 */
export function parseItem<T>(schema: z.ZodType<T>, raw: unknown): T | null {
  if (isTooDeep(raw)) return null;
  const { success, data } = schema.safeParse(raw);
  return success ? data : null;
}

/**
 * A value of any depth as fields: what is text under its own name, what has members under theirs,
 * in a section of its name.
 */
export function toFields(name: string, value: unknown, sections: readonly string[] = []): Field[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((element: unknown) => toFields(name, element, sections));
  if (typeof value === "object") return remainingFields(value, [], [...sections, humanizeName(name)]);
  return [
    { name: { own: humanizeName(name) }, value: stringifyValue(value), ...(sections.length > 0 ? { sections } : {}) },
  ];
}

/** All members but those that were read, or are none of the person's, as fields. */
export function remainingFields(
  members: object,
  handledNames: readonly string[],
  sections: readonly string[] = [],
): Field[] {
  return Object.entries(members).flatMap(([name, value]) =>
    handledNames.includes(name) ? [] : toFields(name, value, sections),
  );
}

/** A name of a member as words: `firstName` is `First Name`. */
export function humanizeName(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/^./, (letter) => letter.toUpperCase());
}

/** Seconds since 1970, or a date as it is written, as the day; what is no date as it is. */
export function formatDay(time: string | number | null | undefined): string | null {
  if (time == null || time === "") return null;
  const date = new Date(typeof time === "number" || /^\d+$/.test(time) ? Number(time) * 1000 : time);
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString().slice(0, 10);
}

/** The first that is filled. */
export function firstNonEmpty(...texts: readonly (string | null | undefined)[]): string | null {
  return texts.find((text) => text != null && text.trim() !== "") ?? null;
}

/** Of what JSON may hold. */
function stringifyValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Without recursion: what is nested without end would have none. */
function isTooDeep(raw: unknown): boolean {
  let level: unknown[] = [raw];
  for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
    level = level.flatMap((value): unknown[] =>
      typeof value === "object" && value !== null ? Object.values(value) : [],
    );
  }
  return level.length > 0;
}
