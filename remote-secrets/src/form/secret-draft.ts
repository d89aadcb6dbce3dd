import { contentKinds, maxTagLength, maxTags, maxTitleLength } from "@relicario/shared/api";
import type { NewSecretInput, OpenerHandle } from "@relicario/shared/contract";
import {
  toContentInput,
  findContentProblem,
  contentProblems,
  maxImageNameLength,
  type RecordDraftField,
} from "@relicario/shared/forms";
import { z } from "zod";

/**
 * Values of `image` that are not ids of images in use: a new image, all images in use, or (only in
 * the edit form) unchanged images.
 */
export const newImage = "new";
export const allImages = "all";
export const sameImages = "same";

const isWellFormed = (text: string): boolean => text.isWellFormed();

/** Validation errors. Each has a text `problem.<name>_error`. */
const draftProblems = [
  ...contentProblems,
  "content_needed",
  "title_missing",
  "title_long",
  "tags_many",
  "tags_long",
  "image_missing",
  "image_name_missing",
  "image_name_long",
  "promise_missing",
] as const;
export type DraftProblem = (typeof draftProblems)[number];

const withProblem = (name: DraftProblem): { error: DraftProblem } => ({ error: name });

/**
 * Values of the add and edit forms. `text` stays exactly as typed. This schema trims titles and
 * image names; their field trims tags.
 */
export const SecretDraft = z
  .object({
    kind: z.enum(contentKinds),
    text: z.string(),
    record: z.custom<RecordDraftField[]>(),
    file: z.custom<File>().nullable(),
    /** Only in the edit form: whether the stored content stays. */
    keepsContent: z.boolean(),
    title: z
      .string()
      .trim()
      .min(1, withProblem("title_missing"))
      .max(maxTitleLength, withProblem("title_long"))
      .refine(isWellFormed, withProblem("text_broken")),
    tags: z
      .array(z.string().max(maxTagLength, withProblem("tags_long")).refine(isWellFormed, withProblem("text_broken")))
      .max(maxTags, withProblem("tags_many")),
    image: z.string(),
    imageName: z
      .string()
      .trim()
      .max(maxImageNameLength, withProblem("image_name_long"))
      .refine(isWellFormed, withProblem("text_broken")),
    openerHandle: z.custom<OpenerHandle>().nullable(),
    /** Whether the account is empty. Then `emptyConfirmed` is required. */
    isFirstSecret: z.boolean(),
    /** Whether the person confirms that the account never had a secret. */
    emptyConfirmed: z.boolean(),
  })
  .superRefine((draft, context) => {
    const addIssue = (path: keyof typeof draft, message: DraftProblem) => {
      context.addIssue({ code: "custom", path: [path], message });
    };
    if (!draft.keepsContent) {
      const contentIssue = findContentProblem(draft);
      if (contentIssue !== null) addIssue(draft.kind === "seed" ? "text" : draft.kind, contentIssue);
    }
    if (draft.keepsContent && draft.image !== sameImages) addIssue("image", "content_needed");
    if (draft.image === newImage && draft.openerHandle === null) addIssue("openerHandle", "image_missing");
    if (draft.image === newImage && draft.imageName === "") addIssue("imageName", "image_name_missing");
    if (draft.isFirstSecret && !draft.emptyConfirmed) addIssue("emptyConfirmed", "promise_missing");
  });
export type SecretDraft = z.infer<typeof SecretDraft>;

export function isDraftProblem(message: string | undefined): message is DraftProblem {
  return draftProblems.some((candidate) => candidate === message);
}

export function toProtection({ image, imageName, openerHandle }: SecretDraft): NewSecretInput["protection"] {
  return image === newImage && openerHandle !== null
    ? { kind: "picture", picture: openerHandle, name: imageName }
    : { kind: "openers", openerIds: image === allImages ? [] : [image] };
}

export function toProtectRequest(draft: SecretDraft): NewSecretInput {
  const { title, tags } = draft;
  return { title, tags, ...toContentInput(draft), protection: toProtection(draft) };
}
