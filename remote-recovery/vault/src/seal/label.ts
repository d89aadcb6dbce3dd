import { PositiveInt, Digest, fromBase64url, Id, Timestamp, toBase64url } from "@relicario/shared/api";
import { bytesToHex } from "@noble/hashes/utils.js";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import type { MetadataKeys } from "./account-key.ts";
import { sha256, utf8 } from "./bytes.ts";
import { parseUnverifiedHeader, jweTypes, openJwe, sealJwe, type JweHeader } from "./document.ts";

export const ContentKind = z.enum(["text", "seed", "file"]);

/** What the list shows of a secret. */
export const Label = z.strictObject({
  v: z.literal(1),
  title: z.string(),
  tags: z.array(z.string()),
  content_kind: ContentKind,
  /** File name. */
  name: z.string(),
  /** Bytes of the plain content. */
  size: z.int().min(0),
  /** Ids of the openers that the ticket is sealed to. */
  openers: z.array(Id),
  ticket_sha256: Digest,
  /** {@link computeFormerVersionsDigest} of all versions before this one; null at version 1. */
  former_sha256: Digest.nullable(),
  /** When it was proved, with which opener, that the copy that its owner keeps still opens it. */
  rehearsed: z.array(z.strictObject({ opener_id: Id, at: Timestamp })),
  /** Kits that were made: SHA-256 of the file, and what it was made of. */
  kits: z.array(z.strictObject({ sha256: Digest, made_at: Timestamp, key_epoch: PositiveInt, ticket_sha256: Digest })),
  /**
   * Mark of an imported item under the book's `import_key`, see imports/source.ts; null for what
   * was not imported.
   */
  source: Digest.nullable(),
});
export type Label = z.infer<typeof Label>;

/** What a label says of a version that was replaced. */
export interface FormerVersion {
  readonly version: number;
  /** base64url, of the ticket as it was last. */
  readonly ticketSha256: string;
}

/**
 * SHA-256 (base64url) of the ASCII lines `version SP sha256-of-ticket-in-hex LF`, by version; null
 * when there is none.
 */
export function computeFormerVersionsDigest(versions: readonly FormerVersion[]): string | null {
  if (versions.length === 0) return null;
  const sorted = versions.toSorted((left, right) => left.version - right.version);
  return toBase64url(
    sha256(
      utf8(
        sorted
          .map(({ version, ticketSha256 }) => `${String(version)} ${bytesToHex(fromBase64url(ticketSha256))}\n`)
          .join(""),
      ),
    ),
  );
}

/** Which secret, which version of it, and which revision of its label or ticket. */
export interface LabelContext {
  readonly secretId: string;
  readonly version: number;
  readonly rev: number;
}

function createLabelHeader(userId: string, keys: MetadataKeys, context: LabelContext): JweHeader {
  return {
    typ: jweTypes.label,
    user_id: userId,
    key_epoch: keys.keyEpoch,
    secret_id: context.secretId,
    version: context.version,
    rev: context.rev,
  };
}

export function sealLabel(keys: MetadataKeys, userId: string, context: LabelContext, label: Label): Promise<string> {
  return sealJwe(keys.label, createLabelHeader(userId, keys, context), label);
}

/**
 * @throws PortalError `decryption_failed`, also for a label of another secret, version or revision,
 *   or one that commits to no former version where there are some.
 */
export async function openLabel(
  keys: MetadataKeys,
  userId: string,
  context: LabelContext,
  jwe: string,
): Promise<Label> {
  const label = await openJwe(keys.label, createLabelHeader(userId, keys, context), jwe, Label);
  if ((label.former_sha256 === null) !== (context.version === 1)) throw new PortalError("decryption_failed");
  return label;
}

/**
 * The revision that a label claims. Not authenticated until it is opened, or the root that it went
 * into is.
 *
 * @throws PortalError `decryption_failed`.
 */
export function parseUnverifiedRev(jwe: string): number {
  const parsed = PositiveInt.safeParse(parseUnverifiedHeader(jwe)["rev"]);
  if (!parsed.success) throw new PortalError("decryption_failed");
  return parsed.data;
}
