import { maxTagLength, maxTags, maxTitleLength } from "@relicario/shared/api";
import type { ContentKind, NewSecretInput, OpenerHandle } from "@relicario/shared/contract";
import { toContentInput, findContentProblem, contentProblems, maxImageNameLength } from "@relicario/shared/forms";
import { z } from "zod";

/**
 * Values of `image` besides the id of an image in use: a new one, all in use, or (edit only) the
 * same as before.
 */
export const newImage = "new";
export const allImages = "all";
export const sameImages = "same";

const contentKinds = ["text", "seed", "file"] as const satisfies readonly ContentKind[];

const isWellFormed = (text: string): boolean => text.isWellFormed();

/** Validation errors; each has a text `problem.<name>_error`. */
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
 * Values of the add and edit forms. `text` is kept exactly as typed; title and image name are
 * trimmed here, tags by their field.
 */
export const SecretDraft = z
  .object({
    kind: z.enum(contentKinds),
    text: z.string(),
    file: z.custom<File>().nullable(),
    /** Edit only: the stored content is neither opened nor replaced. */
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
    /** The account is empty, so `emptyConfirmed` is required. */
    isFirstSecret: z.boolean(),
    /** The person confirms that nothing was protected in this account before. */
    emptyConfirmed: z.boolean(),
  })
  .superRefine((draft, context) => {
    const addIssue = (path: keyof typeof draft, message: DraftProblem) => {
      context.addIssue({ code: "custom", path: [path], message });
    };
    if (!draft.keepsContent) {
      const contentIssue = findContentProblem(draft);
      if (contentIssue !== null) addIssue(draft.kind === "file" ? "file" : "text", contentIssue);
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
    : { kind: "openers", openers: image === allImages ? [] : [image] };
}

export function toProtectRequest(draft: SecretDraft): NewSecretInput {
  const { title, tags } = draft;
  return { title, tags, ...toContentInput(draft), protection: toProtection(draft) };
}
