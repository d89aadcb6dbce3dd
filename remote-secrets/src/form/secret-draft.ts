import { maxFileBytes, maxFileNameLength, maxSmallContentBytes, maxTagLength, maxTags, maxTitleLength } from "@relicario/shared/api";
import type { ContentKind, ProtectRequest, ShownImage } from "@relicario/shared/contract";
import { z } from "zod";

/** Bytes of UTF-8: a text is always sent in one request. */
export const maxTextBytes = maxSmallContentBytes;

/** UTF-16 code units, as `maxLength` of an input counts them. */
export const maxImageNameLength = 80;

/** Values of `image` besides the id of an image in use: a new one, all in use, or (edit only) the same as before. */
export const newImage = "new";
export const allImages = "all";
export const sameImages = "same";

export const contentKinds = ["text", "seed", "file"] as const satisfies readonly ContentKind[];

const wellFormed = (text: string): boolean => text.isWellFormed();

/** Validation errors; each has a text `problem.<name>_error`. */
export const draftProblems = [
  "text_missing",
  "text_long",
  "text_broken",
  "file_missing",
  "file_empty",
  "file_large",
  "file_name_long",
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

/** Values of the add and edit forms. `text` is kept exactly as typed; title and image name are trimmed here, tags by their field. */
export const SecretDraft = z
  .object({
    kind: z.enum(contentKinds),
    text: z.string(),
    file: z.custom<File>().nullable(),
    /** Edit only: the stored content is neither opened nor replaced. */
    contentKept: z.boolean(),
    title: z.string().trim().min(1, problem("title_missing")).max(maxTitleLength, problem("title_long")).refine(wellFormed, problem("text_broken")),
    tags: z.array(z.string().max(maxTagLength, problem("tags_long")).refine(wellFormed, problem("text_broken"))).max(maxTags, problem("tags_many")),
    image: z.string(),
    imageName: z.string().trim().max(maxImageNameLength, problem("image_name_long")).refine(wellFormed, problem("text_broken")),
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
      const wrong = draft.kind === "file" ? fileProblem(draft.file) : textProblem(draft.text);
      if (wrong !== null) add(draft.kind === "file" ? "file" : "text", wrong);
    }
    if (draft.contentKept && draft.image !== sameImages) add("image", "content_needed");
    if (draft.image === newImage && draft.shown === null) add("shown", "image_missing");
    if (draft.image === newImage && draft.imageName === "") add("imageName", "image_name_missing");
    if (draft.first && !draft.promised) add("promised", "promise_missing");
  });
export type SecretDraft = z.infer<typeof SecretDraft>;

function textProblem(text: string): DraftProblem | null {
  if (text === "") return "text_missing";
  if (!wellFormed(text)) return "text_broken";
  return new TextEncoder().encode(text).length > maxTextBytes ? "text_long" : null;
}

function fileProblem(file: File | null): DraftProblem | null {
  if (file === null) return "file_missing";
  if (file.size === 0) return "file_empty";
  if (file.size > maxFileBytes) return "file_large";
  if (!wellFormed(file.name)) return "text_broken";
  return file.name.length > maxFileNameLength ? "file_name_long" : null;
}

export function isDraftProblem(message: string | undefined): message is DraftProblem {
  return draftProblems.some((each) => each === message);
}

/** The content as the vault seals it: a text or seed phrase becomes the file `secret.txt`, a file is passed on unchanged. */
export function contentOf({ kind, text, file }: Pick<SecretDraft, "kind" | "text" | "file">): Pick<ProtectRequest, "contentKind" | "name" | "mime" | "content"> {
  const content = kind === "file" && file !== null ? file : new File([text], "secret.txt", { type: "text/plain" });
  return { contentKind: kind, name: content.name, mime: content.type === "" ? "application/octet-stream" : content.type, content };
}

export function protectionOf({ image, imageName, shown }: SecretDraft): ProtectRequest["protection"] {
  return image === newImage && shown !== null ? { kind: "picture", shown, name: imageName } : { kind: "openers", openers: image === allImages ? [] : [image] };
}

export function protectRequestOf(draft: SecretDraft): ProtectRequest {
  const { title, tags } = draft;
  return { title, tags, ...contentOf(draft), protection: protectionOf(draft) };
}

/** Suggested title: the file name without its extension. */
export function titleOfFile(name: string): string {
  return name.replace(/(?<=.)\.[^.]*$/, "").slice(0, maxTitleLength);
}
