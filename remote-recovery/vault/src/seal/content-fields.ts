import { Digest } from "@relicario/shared/api";
import { z } from "zod";

import { isIdentity } from "./age.ts";
import { ContentKind } from "./label.ts";

/** What every ticket says of the content that it opens. */
export const contentFields = {
  content_kind: ContentKind,
  /** Bytes of the plain content. */
  size: z.int().min(0),
  /** Over the whole content ciphertext. */
  content_sha256: Digest,
  content_identity: z.string().refine((text) => isIdentity(text), "not a hybrid identity"),
} as const;
