import { maxTitleLength } from "@relicario/shared/api";
import type { NewSecretInput } from "@relicario/shared/contract";
import { toContentInput, findContentProblem, type ContentDraft, type ContentProblem } from "@relicario/shared/forms";
import { presentPicture } from "@relicario/vault/presented-opener";

import { knownImageOf, emptyPictureDraft, type PictureDraft } from "../picture/picture-draft.ts";
import { readyPictureOf } from "../picture/ready-picture.ts";

/** Values of `image` beside the id of an image in use. */
export const newImage = "new";
export const allImages = "all";

/**
 * What was chosen and typed on the way. It lives in the memory of the flow's screens alone:
 * picture, passphrase and secret go with them.
 */
export interface BackupDraft extends ContentDraft {
  readonly image: string;
  readonly picture: PictureDraft;
  /** Null until it was typed, or the suggested one was taken. */
  readonly imageName: string | null;
  readonly title: string;
  readonly tags: readonly string[];
  /** The person says that nothing was protected in this account before. */
  readonly emptyAccountConfirmed: boolean;
}

export const emptyDraft: BackupDraft = {
  image: newImage,
  picture: emptyPictureDraft,
  imageName: null,
  kind: "text",
  text: "",
  file: null,
  title: "",
  tags: [],
  emptyAccountConfirmed: false,
};

export type PictureProblem = "image_missing" | "image_name_missing" | "text_broken";
export type SecretProblem = ContentProblem | "title_missing" | "title_long" | "promise_missing";

/** Why the step with the picture is not done; null when it is. */
export function pictureProblem({ image, picture, imageName }: BackupDraft): PictureProblem | null {
  if (image !== newImage) return null;
  if (readyPictureOf(picture) === null) return "image_missing";
  if (knownImageOf(picture.state) !== null) return null; // it has its name
  if (imageName === null || imageName.trim() === "") return "image_name_missing";
  return imageName.isWellFormed() ? null : "text_broken";
}

/**
 * Why the step with the secret is not done, by field; empty when it is. `isFirstSecret`: nothing
 * was ever kept in the account.
 */
export function secretProblems(
  draft: BackupDraft,
  isFirstSecret: boolean,
): Readonly<Partial<Record<"content" | "title" | "emptyAccountConfirmed", SecretProblem>>> {
  const content = findContentProblem(draft);
  const title = draft.title.trim();
  const titleProblem =
    title === ""
      ? "title_missing"
      : title.length > maxTitleLength
        ? "title_long"
        : title.isWellFormed()
          ? null
          : "text_broken";
  return {
    ...(content === null ? {} : { content }),
    ...(titleProblem === null ? {} : { title: titleProblem }),
    ...(isFirstSecret && !draft.emptyAccountConfirmed ? { emptyAccountConfirmed: "promise_missing" } : {}),
  };
}

/** Whether anything would be lost. */
export function isDirty({ picture, text, file, title, tags }: BackupDraft): boolean {
  return picture.state.status !== "none" || text !== "" || file !== null || title !== "" || tags.length > 0;
}

/** What the vault protects; null while the picture's step is not done. */
export function toProtectRequest(draft: BackupDraft): NewSecretInput | null {
  const { image, imageName, title, tags, picture } = draft;
  const fields = { title: title.trim(), tags, ...toContentInput(draft) };
  if (image !== newImage)
    return { ...fields, protection: { kind: "openers", openers: image === allImages ? [] : [image] } };
  const readyPicture = readyPictureOf(picture);
  return readyPicture === null
    ? null
    : {
        ...fields,
        protection: { kind: "picture", picture: presentPicture(readyPicture), name: imageName?.trim() ?? "" },
      };
}
