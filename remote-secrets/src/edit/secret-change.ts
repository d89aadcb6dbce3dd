import type { ContentKind, SecretChange, SecretRow } from "@relicario/shared/contract";
import { contentOf } from "@relicario/shared/forms";

import { protectionOf, sameImages, type SecretDraft } from "../form/secret-draft.ts";

/** A secret as it was read: base of an edit, or the other device's version in a conflict. */
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

/** Null while locked: the row has no label then. */
export function editingSecretOf({ secretId, version, rev, label }: SecretRow): EditingSecret | null {
  if (label === null) return null;
  const { title, tags, contentKind, name, size } = label;
  return { secretId, version, rev, title, tags, contentKind, name, size };
}

/**
 * The difference between draft and secret; null when there is none. Content that was opened and not
 * edited is not sealed again, unless the images that open it change.
 */
export function changeOf(draft: SecretDraft, secret: EditingSecret, recovered: string): SecretChange | null {
  const opened =
    recovered !== "" && draft.text === recovered && draft.kind === secret.contentKind && draft.kind !== "file";
  const sealsAnew = !draft.contentKept && (!opened || draft.image !== sameImages);
  const named = {
    ...(draft.title === secret.title ? {} : { title: draft.title }),
    ...(sameTags(draft.tags, secret.tags) ? {} : { tags: draft.tags }),
  };
  if (!sealsAnew && Object.keys(named).length === 0) return null;
  return {
    baseVersion: secret.version,
    baseRev: secret.rev,
    ...named,
    ...(sealsAnew ? { content: contentOf(draft) } : {}),
    ...(sealsAnew && draft.image !== sameImages ? { protection: protectionOf(draft) } : {}),
  };
}

function sameTags(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((tag, index) => tag === other[index]);
}
