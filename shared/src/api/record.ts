import { z } from "zod";

import { maxRecordFields, maxRecordLabelLength, maxRecordValueLength, maxSmallContentBytes } from "./limits.ts";

/** Kinds of content. The contract exports them as `ContentKind`. */
export const contentKinds = ["text", "seed", "record", "file"] as const;

/** File name and media type of a record. */
export const recordFileName = "record.json";
export const recordMime = "application/json";

export const recordFieldKinds = ["text", "secret", "one_time_code", "address", "note", "date"] as const;
export type RecordFieldKind = (typeof recordFieldKinds)[number];

const isWellFormed = (text: string): boolean => text.isWellFormed();
const controlCharacter = /\p{Cc}/u;
const hiddenControlCharacter = /[^\P{Cc}\t\n\r]/u;

/**
 * A field of a record. A secret may have control characters, because it is copied exactly. Other
 * fields may only have tabs and line ends.
 */
export const RecordField = z
  .strictObject({
    label: z
      .string()
      .min(1)
      .max(maxRecordLabelLength)
      .refine((label) => label.isWellFormed() && !controlCharacter.test(label)),
    value: z.string().min(1).max(maxRecordValueLength).refine(isWellFormed),
    kind: z.enum(recordFieldKinds),
  })
  .refine(({ kind, value }) => kind === "secret" || !hiddenControlCharacter.test(value), { path: ["value"] })
  .refine(({ kind, value }) => kind !== "date" || isDay(value), { path: ["value"] });
export type RecordField = Readonly<z.infer<typeof RecordField>>;

const SecretRecord = z.strictObject({ v: z.literal(1), fields: z.array(RecordField).min(1).max(maxRecordFields) });

/**
 * Parses a content of kind `record` (docs/formats.md). Null for any other text; the caller then
 * shows and keeps the text itself.
 */
export function parseRecord(text: string): readonly RecordField[] | null {
  if (text.length > maxSmallContentBytes) return null;
  try {
    return SecretRecord.safeParse(JSON.parse(text)).data?.fields ?? null;
  } catch {
    return null; // not JSON
  }
}

/**
 * Serialises fields with indentation, so that a person can read them without the portal. Does not
 * validate the fields.
 */
export function stringifyRecord(fields: readonly RecordField[]): string {
  return JSON.stringify({ v: 1, fields: fields.map(({ label, value, kind }) => ({ label, value, kind })) }, null, 2);
}

/** Formats a record as text: a line per field, and an empty line before a note. */
export function formatRecordText(fields: readonly RecordField[]): string {
  return fields
    .map(({ label, value, kind }) => (kind === "note" ? `\n${label}:\n${value}` : `${label}: ${value}`))
    .join("\n");
}

/** Whether the text is an existing day, such as `2027-12-31`. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
