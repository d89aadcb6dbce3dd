import type { z } from "zod";

import type { Field } from "./field.ts";
import { maxDepth } from "./limits.ts";

/**
 * An item of a file by its schema, with the members that the schema does not name beside.
 *
 * @returns null for what does not fit, or is nested deeper than any program writes.
 */
export function parsed<T>(schema: z.ZodType<T>, given: unknown): T | null {
  if (isTooDeep(given)) return null;
  const { success, data } = schema.safeParse(given);
  return success ? data : null;
}

/**
 * A value of any depth as fields: what is text under its own name, what has members under theirs,
 * in a section of its name.
 */
export function fieldsIn(name: string, value: unknown, under: readonly string[] = []): Field[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((one: unknown) => fieldsIn(name, one, under));
  if (typeof value === "object") return membersOf(value, [], [...under, spelled(name)]);
  return [{ name: { own: spelled(name) }, value: writtenOut(value), ...(under.length > 0 ? { under } : {}) }];
}

/** All members but those that were read, or are none of the person's, as fields. */
export function membersOf(facts: object, known: readonly string[], under: readonly string[] = []): Field[] {
  return Object.entries(facts).flatMap(([name, value]) => (known.includes(name) ? [] : fieldsIn(name, value, under)));
}

/** A name of a member as words: `firstName` is `First Name`. */
export function spelled(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/^./, (letter) => letter.toUpperCase());
}

/** Seconds since 1970, or a date as it is written, as the day; what is no date as it is. */
export function dayOf(time: string | number | null | undefined): string | null {
  if (time == null || time === "") return null;
  const date = new Date(typeof time === "number" || /^\d+$/.test(time) ? Number(time) * 1000 : time);
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString().slice(0, 10);
}

/** The first that is filled. */
export function firstOf(...texts: readonly (string | null | undefined)[]): string | null {
  return texts.find((text) => text != null && text.trim() !== "") ?? null;
}

/** Of what JSON may hold. */
function writtenOut(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Without recursion: what is nested without end would have none. */
function isTooDeep(given: unknown): boolean {
  let level: unknown[] = [given];
  for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
    level = level.flatMap((value): unknown[] =>
      typeof value === "object" && value !== null ? Object.values(value) : [],
    );
  }
  return level.length > 0;
}
