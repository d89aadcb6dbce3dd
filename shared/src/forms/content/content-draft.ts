import {
  maxFileBytes,
  maxFileNameLength,
  maxSmallContentBytes,
  maxTitleLength,
  recordFileName,
  recordMime,
} from "../../api/index.ts";
import type { ContentKind } from "../../contract/contents.ts";
import type { NewSecretInput } from "../../contract/vault.ts";
import { findRecordProblem, stringifyRecordDraft, type RecordDraftField } from "../record/record-draft.ts";

/** Maximum size of a text, in bytes of UTF-8. Such a text always fits one call. */
export const maxTextBytes = maxSmallContentBytes;

/**
 * Maximum length of the name of a recovery image, in UTF-16 code units, like `maxLength` of an
 * input.
 */
export const maxImageNameLength = 80;

/**
 * Input of the person. `text` stays exactly as typed. Switching the kind keeps text, record and
 * file.
 */
export interface ContentDraft {
  readonly kind: ContentKind;
  readonly text: string;
  readonly record: readonly RecordDraftField[];
  readonly file: File | null;
}

/** Reasons why a content cannot be protected. Each form has a text for each reason. */
export const contentProblems = [
  "text_missing",
  "text_long",
  "text_broken",
  "record_empty",
  "record_broken",
  "file_missing",
  "file_empty",
  "file_large",
  "file_name_long",
] as const;
export type ContentProblem = (typeof contentProblems)[number];

/** Returns null for a valid content. */
export function findContentProblem(draft: ContentDraft): ContentProblem | null {
  if (draft.kind === "file") return findFileProblem(draft.file);
  const recordProblem = draft.kind === "record" ? findRecordProblem(draft.record) : null;
  return recordProblem ?? findTextProblem(getDraftText(draft));
}

/** Returns the text to seal: the typed text, or the JSON of the record. */
export function getDraftText({ kind, text, record }: Omit<ContentDraft, "file">): string {
  return kind === "record" ? stringifyRecordDraft(record) : text;
}

function findTextProblem(text: string): ContentProblem | null {
  if (text === "") return "text_missing";
  if (!text.isWellFormed()) return "text_broken";
  return new TextEncoder().encode(text).length > maxTextBytes ? "text_long" : null;
}

function findFileProblem(file: File | null): ContentProblem | null {
  if (file === null) return "file_missing";
  if (file.size === 0) return "file_empty";
  if (file.size > maxFileBytes) return "file_large";
  if (!file.name.isWellFormed()) return "text_broken";
  return file.name.length > maxFileNameLength ? "file_name_long" : null;
}

/**
 * Converts a draft to the vault's input. A text or seed phrase becomes the file `secret.txt`, a
 * record the file `record.json`. A file stays unchanged.
 */
export function toContentInput(draft: ContentDraft): Pick<NewSecretInput, "contentKind" | "name" | "mime" | "content"> {
  const { kind, file } = draft;
  const content =
    kind === "file" && file !== null
      ? file
      : kind === "record"
        ? new File([getDraftText(draft)], recordFileName, { type: recordMime })
        : new File([getDraftText(draft)], "secret.txt", { type: "text/plain" });
  return {
    contentKind: kind,
    name: content.name,
    mime: content.type === "" ? "application/octet-stream" : content.type,
    content,
  };
}

/** Suggests a title: the file name without its extension. */
export function suggestTitle(name: string): string {
  return name.replace(/(?<=.)\.[^.]*$/, "").slice(0, maxTitleLength);
}
