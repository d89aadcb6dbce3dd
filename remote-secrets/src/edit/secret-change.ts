import type { ContentKind, SecretChange, SecretRow } from "@relicario/shared/contract";
import { getDraftText, toContentInput } from "@relicario/shared/forms";

import { toProtection, sameImages, type SecretDraft } from "../form/secret-draft.ts";

/** A secret as it was read: the base of an edit, or the other version in a conflict. */
export interface EditingSecret {
  readonly secretId: string;
  readonly version: number;
  readonly rev: number;
  readonly title: string;
  readonly tags: readonly string[];
  readonly contentKind: ContentKind;
  readonly name: string;
  readonly size: number;
}

/** Converts a row. Null while locked, because the row then has no label. */
export function toEditingSecret({ secretId, version, rev, label }: SecretRow): EditingSecret | null {
  if (label === null) return null;
  const { title, tags, contentKind, name, size } = label;
  return { secretId, version, rev, title, tags, contentKind, name, size };
}

/**
 * Returns the difference between draft and secret; null if there is none. A content that was opened
 * but not edited is re-sealed only if the images change.
 */
export function toSecretChange(draft: SecretDraft, secret: EditingSecret, recoveredText: string): SecretChange | null {
  const isUnedited =
    recoveredText !== "" &&
    draft.kind !== "file" &&
    draft.kind === secret.contentKind &&
    getDraftText(draft) === recoveredText;
  const needsReseal = !draft.keepsContent && (!isUnedited || draft.image !== sameImages);
  const labelChanges = {
    ...(draft.title === secret.title ? {} : { title: draft.title }),
    ...(hasSameTags(draft.tags, secret.tags) ? {} : { tags: draft.tags }),
  };
  if (!needsReseal && Object.keys(labelChanges).length === 0) return null;
  return {
    baseVersion: secret.version,
    baseRev: secret.rev,
    ...labelChanges,
    ...(needsReseal ? { content: toContentInput(draft) } : {}),
    ...(needsReseal && draft.image !== sameImages ? { protection: toProtection(draft) } : {}),
  };
}

function hasSameTags(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((tag, index) => tag === right[index]);
}
