import { Counter, Digest, Id, Timestamp } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import type { TitlesKeys } from "./account-key.ts";
import { headerOf, jweTypes, openJwe, sealJwe, type JweHeader } from "./document.ts";

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
  rehearsed_at: Timestamp.nullable(),
});
export type Label = z.infer<typeof Label>;

/** Which secret, which version of it, and which revision of its label or ticket. */
export interface LabelPlace {
  readonly secretId: string;
  readonly version: number;
  readonly rev: number;
}

function header(userId: string, keys: TitlesKeys, place: LabelPlace): JweHeader {
  return { typ: jweTypes.label, user_id: userId, key_epoch: keys.keyEpoch, secret_id: place.secretId, version: place.version, rev: place.rev };
}

export function sealLabel(keys: TitlesKeys, userId: string, place: LabelPlace, label: Label): Promise<string> {
  return sealJwe(keys.label, header(userId, keys, place), label);
}

/** @throws PortalError `decryption_failed`, also for a label of another secret, version or revision. */
export function openLabel(keys: TitlesKeys, userId: string, place: LabelPlace, jwe: string): Promise<Label> {
  return openJwe(keys.label, header(userId, keys, place), jwe, Label);
}

/**
 * The revision that a label claims. Not authenticated until it is opened, or the root that it went into is.
 *
 * @throws PortalError `decryption_failed`.
 */
export function revOf(jwe: string): number {
  const parsed = Counter.safeParse(headerOf(jwe)["rev"]);
  if (!parsed.success) throw new PortalError("decryption_failed");
  return parsed.data;
}
