import {
  formatRecordText,
  maxRecordFields,
  parseOneTimeCode,
  parseRecord,
  RecordField,
  stringifyRecord,
} from "../../api/index.ts";
import type { ContentKind } from "../../contract/contents.ts";

/** A field while it is edited. The id stays when fields move, and is not stored. */
export interface RecordDraftField extends RecordField {
  readonly id: string;
}

export type RecordFieldProblem = "label_missing" | "label_broken" | "value_broken" | "code_broken" | "date_broken";

export function createDraftField(field: RecordField): RecordDraftField {
  return { ...field, id: crypto.randomUUID() };
}

/** Returns the fields to edit; null for a text that is not a record. */
export function parseRecordDraft(text: string): readonly RecordDraftField[] | null {
  return parseRecord(text)?.map(createDraftField) ?? null;
}

/** Formats a text content for reading. The fields of a record become lines. */
export function formatContentText(kind: ContentKind, text: string): string {
  const fields = kind === "record" ? parseRecord(text) : null;
  return fields === null ? text : formatRecordText(fields);
}

/** Returns the JSON of the record, without the fields that have no value. */
export function stringifyRecordDraft(fields: readonly RecordDraftField[]): string {
  return stringifyRecord(getFilledFields(fields).map((field) => ({ ...field, label: field.label.trim() })));
}

function getFilledFields(fields: readonly RecordDraftField[]): readonly RecordDraftField[] {
  return fields.filter(({ value }) => value !== "");
}

/** Null for a field that can be stored, and for a field without a value. */
export function findFieldProblem({ label, value, kind }: RecordField): RecordFieldProblem | null {
  if (value === "") return null;
  if (label.trim() === "") return "label_missing";
  const issue = RecordField.safeParse({ label: label.trim(), value, kind }).error?.issues[0];
  if (issue?.path[0] === "label") return "label_broken";
  if (issue !== undefined) return kind === "date" ? "date_broken" : "value_broken";
  return kind === "one_time_code" && parseOneTimeCode(value) === null ? "code_broken" : null;
}

/** Null for a record that can be stored. */
export function findRecordProblem(fields: readonly RecordDraftField[]): "record_empty" | "record_broken" | null {
  const filledFields = getFilledFields(fields);
  if (filledFields.length === 0) return "record_empty";
  return filledFields.length > maxRecordFields || filledFields.some((field) => findFieldProblem(field) !== null)
    ? "record_broken"
    : null;
}
