import { contentKinds, maxFileNameLength, maxRequestNoteLength } from "@relicario/shared/api";
import type { ProvidedSecret } from "@relicario/shared/contract";
import { findRecordProblem, getDraftText, toContentInput, type RecordDraftField } from "@relicario/shared/forms";
import { z } from "zod";

/** Validation errors. Each has a text `provide.<name>_error`. */
const provideProblems = [
  "text_missing",
  "text_broken",
  "record_empty",
  "record_broken",
  "too_large",
  "file_missing",
  "file_empty",
  "file_name_long",
  "note_long",
] as const;
export type ProvideProblem = (typeof provideProblems)[number];

/** Schema of the form's values. `text` stays exactly as typed. */
export const createProvideSchema = (maxSize: number) =>
  z
    .object({
      kind: z.enum(contentKinds),
      text: z.string(),
      record: z.custom<RecordDraftField[]>(),
      file: z.custom<File>().nullable(),
      note: z.string().max(maxRequestNoteLength, { error: "note_long" satisfies ProvideProblem }),
    })
    .superRefine((draft, context) => {
      const contentIssue =
        draft.kind === "file"
          ? findFileProblem(draft.file, maxSize)
          : ((draft.kind === "record" ? findRecordProblem(draft.record) : null) ??
            findTextProblem(getDraftText(draft), maxSize));
      if (contentIssue !== null)
        context.addIssue({
          code: "custom",
          path: [draft.kind === "seed" ? "text" : draft.kind],
          message: contentIssue,
        });
      if (!draft.note.isWellFormed())
        context.addIssue({ code: "custom", path: ["note"], message: "text_broken" satisfies ProvideProblem });
    });
export type ProvideDraft = z.infer<ReturnType<typeof createProvideSchema>>;

function findTextProblem(text: string, maxSize: number): ProvideProblem | null {
  if (text === "") return "text_missing";
  if (!text.isWellFormed()) return "text_broken";
  return new TextEncoder().encode(text).length > maxSize ? "too_large" : null;
}

function findFileProblem(file: File | null, maxSize: number): ProvideProblem | null {
  if (file === null) return "file_missing";
  if (file.size === 0) return "file_empty";
  if (file.size > maxSize) return "too_large";
  if (!file.name.isWellFormed()) return "text_broken";
  return file.name.length > maxFileNameLength ? "file_name_long" : null;
}

export function toProvidedSecret(draft: ProvideDraft): ProvidedSecret {
  return { ...toContentInput(draft), note: draft.note };
}

export function isProvideProblem(message: string | undefined): message is ProvideProblem {
  return provideProblems.some((candidate) => candidate === message);
}
