import { maxTitleLength } from "@relicario/shared/api";
import type { ProtectRequest } from "@relicario/shared/contract";
import { contentOf, contentProblem, type ChosenContent, type ContentProblem } from "@relicario/shared/forms";
import { showPicture } from "@relicario/vault/shown-image";

import { imageOf, noPicture, type PictureDraft } from "../picture/picture-draft.ts";
import { savedPictureOf } from "../picture/saved-picture.ts";

/** Values of `image` beside the id of an image in use. */
export const newImage = "new";
export const allImages = "all";

/**
 * What was chosen and typed on the way. It lives in the memory of the flow's screens alone:
 * picture, passphrase and secret go with them.
 */
export interface BackupDraft extends ChosenContent {
  readonly image: string;
  readonly picture: PictureDraft;
  /** Null until it was typed, or the suggested one was taken. */
  readonly imageName: string | null;
  readonly title: string;
  readonly tags: readonly string[];
  /** The person says that nothing was protected in this account before. */
  readonly promised: boolean;
}

export const emptyDraft: BackupDraft = {
  image: newImage,
  picture: noPicture,
  imageName: null,
  kind: "text",
  text: "",
  file: null,
  title: "",
  tags: [],
  promised: false,
};

export type PictureProblem = "image_missing" | "image_name_missing" | "text_broken";
export type SecretProblem = ContentProblem | "title_missing" | "title_long" | "promise_missing";

/** Why the step with the picture is not done; null when it is. */
export function pictureProblem({ image, picture, imageName }: BackupDraft): PictureProblem | null {
  if (image !== newImage) return null;
  if (savedPictureOf(picture) === null) return "image_missing";
  if (imageOf(picture.standing) !== null) return null; // it has its name
  if (imageName === null || imageName.trim() === "") return "image_name_missing";
  return imageName.isWellFormed() ? null : "text_broken";
}

/**
 * Why the step with the secret is not done, by field; empty when it is. `first`: nothing was ever
 * kept in the account.
 */
export function secretProblems(
  draft: BackupDraft,
  first: boolean,
): Readonly<Partial<Record<"content" | "title" | "promised", SecretProblem>>> {
  const content = contentProblem(draft);
  const title = draft.title.trim();
  const titled =
    title === ""
      ? "title_missing"
      : title.length > maxTitleLength
        ? "title_long"
        : title.isWellFormed()
          ? null
          : "text_broken";
  return {
    ...(content === null ? {} : { content }),
    ...(titled === null ? {} : { title: titled }),
    ...(first && !draft.promised ? { promised: "promise_missing" } : {}),
  };
}

/** Whether anything would be lost. */
export function isDirty({ picture, text, file, title, tags }: BackupDraft): boolean {
  return picture.standing.status !== "none" || text !== "" || file !== null || title !== "" || tags.length > 0;
}

/** What the vault protects; null while the picture's step is not done. */
export function requestOf(draft: BackupDraft): ProtectRequest | null {
  const { image, imageName, title, tags, picture } = draft;
  const described = { title: title.trim(), tags, ...contentOf(draft) };
  if (image !== newImage)
    return { ...described, protection: { kind: "openers", openers: image === allImages ? [] : [image] } };
  const shown = savedPictureOf(picture);
  return shown === null
    ? null
    : { ...described, protection: { kind: "picture", shown: showPicture(shown), name: imageName?.trim() ?? "" } };
}
