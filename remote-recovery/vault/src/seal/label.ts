import { contentKinds, PositiveInt, Digest, fromBase64url, Id, Timestamp, toBase64url } from "@relicario/shared/api";
import { bytesToHex } from "@noble/hashes/utils.js";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import type { MetadataKeys } from "./account-key.ts";
import { sha256, utf8 } from "./bytes.ts";
import { parseUnverifiedHeader, jweTypes, openJwe, sealJwe, type JweHeader } from "./document.ts";

export const ContentKind = z.enum(contentKinds);

/** The data of a secret that the list shows. */
export const Label = z.strictObject({
  v: z.literal(1),
  title: z.string(),
  tags: z.array(z.string()),
  content_kind: ContentKind,
  /** File name. */
  name: z.string(),
  /** Length of the plain content in bytes. */
  size: z.int().min(0),
  /** Ids of the openers that the ticket is sealed to. */
  openers: z.array(Id),
  ticket_sha256: Digest,
  /** {@link computeFormerVersionsDigest} of all earlier versions; null for version 1. */
  former_sha256: Digest.nullable(),
  /** Checks in which an opener opened the owner's copy: when, and which opener. */
  rehearsed: z.array(z.strictObject({ opener_id: Id, at: Timestamp })),
  /**
   * Kits that contain the secret: SHA-256 of the file, time, key epoch and digest of the ticket.
   */
  kits: z.array(z.strictObject({ sha256: Digest, made_at: Timestamp, key_epoch: PositiveInt, ticket_sha256: Digest })),
  /**
   * Mark of an imported item, computed with the book's `import_key` (imports/source.ts); null
   * unless imported.
   */
  source: Digest.nullable(),
});
export type Label = z.infer<typeof Label>;

/** A replaced version, as labels commit to it. */
export interface FormerVersion {
  readonly version: number;
  /** Digest of the version's last ticket, base64url. */
  readonly ticketSha256: string;
}

/**
 * Computes SHA-256 (base64url) of the ASCII lines `version SP sha256-of-ticket-in-hex LF`, sorted
 * by version. Null if there are none.
 */
export function computeFormerVersionsDigest(versions: readonly FormerVersion[]): string | null {
  if (versions.length === 0) return null;
  const sortedVersions = versions.toSorted((left, right) => left.version - right.version);
  return toBase64url(
    sha256(
      utf8(
        sortedVersions
          .map(({ version, ticketSha256 }) => `${String(version)} ${bytesToHex(fromBase64url(ticketSha256))}\n`)
          .join(""),
      ),
    ),
  );
}

/** Secret, version, and revision of the label or ticket. */
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
 *   and if version 1 commits to earlier versions or a later version does not
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
 * Returns the revision that a label claims. It is not authenticated until the label, or a root that
 * includes it, has been verified.
 *
 * @throws PortalError `decryption_failed`
 */
export function parseUnverifiedRev(jwe: string): number {
  const parsed = PositiveInt.safeParse(parseUnverifiedHeader(jwe)["rev"]);
  if (!parsed.success) throw new PortalError("decryption_failed");
  return parsed.data;
}
