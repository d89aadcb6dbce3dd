import { maxTagLength, maxTags, maxTitleLength } from "@relicario/shared/api";
import type { ContentKind, ProtectRequest, ShownImage } from "@relicario/shared/contract";
import { contentOf, contentProblem, contentProblems, maxImageNameLength } from "@relicario/shared/forms";
import { z } from "zod";

/**
 * Values of `image` besides the id of an image in use: a new one, all in use, or (edit only) the
 * same as before.
 */
export const newImage = "new";
export const allImages = "all";
export const sameImages = "same";

export const contentKinds = ["text", "seed", "file"] as const satisfies readonly ContentKind[];

const wellFormed = (text: string): boolean => text.isWellFormed();

/** Validation errors; each has a text `problem.<name>_error`. */
export const draftProblems = [
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

const problem = (name: DraftProblem): { error: DraftProblem } => ({ error: name });

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
    contentKept: z.boolean(),
    title: z
      .string()
      .trim()
      .min(1, problem("title_missing"))
      .max(maxTitleLength, problem("title_long"))
      .refine(wellFormed, problem("text_broken")),
    tags: z
      .array(z.string().max(maxTagLength, problem("tags_long")).refine(wellFormed, problem("text_broken")))
      .max(maxTags, problem("tags_many")),
    image: z.string(),
    imageName: z
      .string()
      .trim()
      .max(maxImageNameLength, problem("image_name_long"))
      .refine(wellFormed, problem("text_broken")),
    shown: z.custom<ShownImage>().nullable(),
    /** The account is empty, so `promised` is required. */
    first: z.boolean(),
    /** The person confirms that nothing was protected in this account before. */
    promised: z.boolean(),
  })
  .superRefine((draft, context) => {
    const add = (path: keyof typeof draft, message: DraftProblem) => {
      context.addIssue({ code: "custom", path: [path], message });
    };
    if (!draft.contentKept) {
      const wrong = contentProblem(draft);
      if (wrong !== null) add(draft.kind === "file" ? "file" : "text", wrong);
    }
    if (draft.contentKept && draft.image !== sameImages) add("image", "content_needed");
    if (draft.image === newImage && draft.shown === null) add("shown", "image_missing");
    if (draft.image === newImage && draft.imageName === "") add("imageName", "image_name_missing");
    if (draft.first && !draft.promised) add("promised", "promise_missing");
  });
export type SecretDraft = z.infer<typeof SecretDraft>;

export function isDraftProblem(message: string | undefined): message is DraftProblem {
  return draftProblems.some((each) => each === message);
}

export function protectionOf({ image, imageName, shown }: SecretDraft): ProtectRequest["protection"] {
  return image === newImage && shown !== null
    ? { kind: "picture", shown, name: imageName }
    : { kind: "openers", openers: image === allImages ? [] : [image] };
}

export function protectRequestOf(draft: SecretDraft): ProtectRequest {
  const { title, tags } = draft;
  return { title, tags, ...contentOf(draft), protection: protectionOf(draft) };
}
