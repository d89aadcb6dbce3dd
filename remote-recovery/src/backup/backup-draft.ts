import { maxTitleLength } from "@relicario/shared/api";
import type { NewSecretInput } from "@relicario/shared/contract";
import { toContentInput, findContentProblem, type ContentDraft, type ContentProblem } from "@relicario/shared/forms";
import { createHandle, emptyElementState, type ElementState } from "@relicario/vault";

/** Values of `image` other than the id of an existing image. */
export const newImage = "new";
export const allImages = "all";

/** Input of the flow. In memory only: the secret must not outlive the flow. */
export interface BackupDraft extends ContentDraft {
  readonly image: string;
  /** Picture and passphrase, which the vault holds. */
  readonly picture: ElementState;
  /** Null until a name is typed or the suggestion accepted. */
  readonly imageName: string | null;
  readonly title: string;
  readonly tags: readonly string[];
  /** The person confirms that the account never had a secret. */
  readonly emptyAccountConfirmed: boolean;
}

export const emptyDraft: BackupDraft = {
  image: newImage,
  picture: emptyElementState,
  imageName: null,
  kind: "text",
  text: "",
  record: [],
  file: null,
  title: "",
  tags: [],
  emptyAccountConfirmed: false,
};

export type PictureProblem =
  | "image_missing"
  | "passphrase_missing"
  | "image_unsaved"
  | "image_name_missing"
  | "text_broken";
export type SecretProblem = ContentProblem | "title_missing" | "title_long" | "promise_missing";

/** Null if the picture step is complete. */
export function findPictureProblem({ image, picture, imageName }: BackupDraft): PictureProblem | null {
  if (image !== newImage) return null;
  if (!picture.ready) return picture.problem ?? "image_missing";
  if (picture.known !== null) return null; // already named
  if (imageName === null || imageName.trim() === "") return "image_name_missing";
  return imageName.isWellFormed() ? null : "text_broken";
}

/**
 * Returns problems by field; empty if the secret step is complete.
 * @param isFirstSecret whether the service reports an empty account
 */
export function findSecretProblems(
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

export function isDirty({ picture, text, record, file, title, tags }: BackupDraft): boolean {
  return (
    picture.kind !== null ||
    text !== "" ||
    record.some(({ value }) => value !== "") ||
    file !== null ||
    title !== "" ||
    tags.length > 0
  );
}

/** Null while the picture step is incomplete. */
export function toProtectRequest(draft: BackupDraft): NewSecretInput | null {
  const { image, imageName, title, tags, picture } = draft;
  const fields = { title: title.trim(), tags, ...toContentInput(draft) };
  if (image !== newImage)
    return { ...fields, protection: { kind: "openers", openerIds: image === allImages ? [] : [image] } };
  return !picture.ready || picture.heldId === null
    ? null
    : {
        ...fields,
        protection: { kind: "picture", picture: createHandle(picture.heldId), name: imageName?.trim() ?? "" },
      };
}
