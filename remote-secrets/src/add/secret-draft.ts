import { maxSmallSecretBytes, maxTagLength, maxTags, maxTitleLength } from "@relicario/shared/api";
import type { ProtectRequest, ShownImage } from "@relicario/shared/contract";
import { z } from "zod";

/**
 * The longest text, in bytes of UTF-8. Sealing pads it to 256 bytes and adds a header and a mark for each 64 KiB; the
 * whole has to fit one call.
 */
export const maxTextBytes = maxSmallSecretBytes - 4 * 1024;

/** Characters of the name of an image. */
export const maxImageNameLength = 80;

/** Which image protects: all that are in use, one of them by its id, or a new one. */
export const newImage = "new";
export const allImages = "all";

const wellFormed = (text: string): boolean => text.isWellFormed();

/** What can be wrong with a draft; each has a sentence. */
export const draftProblems = [
  "text_missing",
  "text_long",
  "text_broken",
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
 * What the form of a text secret holds. The text is kept exactly as typed; titles and tags lose spaces around them.
 */
export const SecretDraft = z
  .object({
    text: z
      .string()
      .min(1, problem("text_missing"))
      .refine(wellFormed, problem("text_broken"))
      .refine((text) => new TextEncoder().encode(text).length <= maxTextBytes, problem("text_long")),
    title: z.string().trim().min(1, problem("title_missing")).max(maxTitleLength, problem("title_long")).refine(wellFormed, problem("text_broken")),
    tags: z.array(z.string().max(maxTagLength, problem("tags_long")).refine(wellFormed, problem("text_broken"))).max(maxTags, problem("tags_many")),
    image: z.string(),
    imageName: z.string().trim().max(maxImageNameLength, problem("image_name_long")).refine(wellFormed, problem("text_broken")),
    shown: z.custom<ShownImage>().nullable(),
    /** The very first secret takes a promise: that nothing was protected before. */
    first: z.boolean(),
    promised: z.boolean(),
  })
  .superRefine((draft, context) => {
    const add = (path: keyof typeof draft, message: DraftProblem) => {
      context.addIssue({ code: "custom", path: [path], message });
    };
    if (draft.image === newImage && draft.shown === null) add("shown", "image_missing");
    if (draft.image === newImage && draft.imageName === "") add("imageName", "image_name_missing");
    if (draft.first && !draft.promised) add("promised", "promise_missing");
  });
export type SecretDraft = z.infer<typeof SecretDraft>;

export function isDraftProblem(message: string | undefined): message is DraftProblem {
  return draftProblems.some((each) => each === message);
}

/** A text secret is the file `secret.txt` (specification, section 3). */
export function protectRequestOf(draft: SecretDraft): ProtectRequest {
  const { title, tags, text, image, imageName, shown } = draft;
  return {
    title,
    tags,
    contentKind: "text",
    name: "secret.txt",
    mime: "text/plain",
    content: new Blob([text], { type: "text/plain" }),
    protection:
      image === newImage && shown !== null
        ? { kind: "picture", shown, name: imageName }
        : { kind: "openers", openers: image === allImages ? [] : [image] },
  };
}
