import { maxFileBytes, maxFileNameLength, maxSmallContentBytes, maxTitleLength } from "../../api/index.ts";
import type { ContentKind } from "../../contract/contents.ts";
import type { NewSecretInput } from "../../contract/vault.ts";

/** Bytes of UTF-8: a text is always sent in one request. */
export const maxTextBytes = maxSmallContentBytes;

/** UTF-16 code units, as `maxLength` of an input counts them: the name of a recovery image. */
export const maxImageNameLength = 80;

/**
 * What a person typed or chose. `text` is kept exactly as typed; switching the kind loses neither.
 */
export interface ContentDraft {
  readonly kind: ContentKind;
  readonly text: string;
  readonly file: File | null;
}

/** Why a content cannot be protected; each form has a sentence for each. */
export const contentProblems = [
  "text_missing",
  "text_long",
  "text_broken",
  "file_missing",
  "file_empty",
  "file_large",
  "file_name_long",
] as const;
export type ContentProblem = (typeof contentProblems)[number];

/** Null for a content that can be protected. */
export function findContentProblem({ kind, text, file }: ContentDraft): ContentProblem | null {
  return kind === "file" ? findFileProblem(file) : findTextProblem(text);
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
 * The content as the vault seals it: a text or seed phrase becomes the file `secret.txt`, a file is
 * passed on unchanged.
 */
export function toContentInput({
  kind,
  text,
  file,
}: ContentDraft): Pick<NewSecretInput, "contentKind" | "name" | "mime" | "content"> {
  const content = kind === "file" && file !== null ? file : new File([text], "secret.txt", { type: "text/plain" });
  return {
    contentKind: kind,
    name: content.name,
    mime: content.type === "" ? "application/octet-stream" : content.type,
    content,
  };
}

/** Suggested title: the file name without its extension. */
export function suggestTitle(name: string): string {
  return name.replace(/(?<=.)\.[^.]*$/, "").slice(0, maxTitleLength);
}
