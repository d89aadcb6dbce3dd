import { Digest } from "@relicario/shared/api";
import { z } from "zod";

import { isIdentity } from "./age.ts";
import { ContentKind } from "./label.ts";

/** Fields in every ticket that describe the content it opens. */
export const contentFields = {
  content_kind: ContentKind,
  /** Length of the plain content in bytes. */
  size: z.int().min(0),
  /** Digest of the whole content ciphertext. */
  content_sha256: Digest,
  content_identity: z.string().refine((text) => isIdentity(text), "not a hybrid identity"),
} as const;
