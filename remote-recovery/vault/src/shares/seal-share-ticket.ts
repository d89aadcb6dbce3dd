import { toBase64url } from "@relicario/shared/api";

import { signDocument, type MetadataKeys } from "../seal/account-key.ts";
import { sealTo } from "../seal/age.ts";
import { wipe, type Bytes } from "../seal/bytes.ts";
import { serializeDocument } from "../seal/document.ts";
import type { Label } from "../seal/label.ts";
import { computeRecipientDigest, type ShareTicket } from "../seal/share-ticket.ts";
import type { SharedContent } from "./shared-content.ts";

/** Which share a ticket is sealed for, and to whom. */
export interface ShareTicketTarget {
  readonly shareId: string;
  readonly audience: ShareTicket["audience"];
  readonly rev: number;
  readonly recipient: string;
  readonly owner: string;
  /** RFC 3339, of the sealing. */
  readonly createdAt: string;
}

/**
 * Signs and seals the ticket of a share. Title and name are those that the secret has now; its tags
 * stay at home.
 */
export async function sealShareTicket(
  keys: MetadataKeys,
  { shareId, audience, rev, recipient, owner, createdAt }: ShareTicketTarget,
  { title, name }: Pick<Label, "title" | "name">,
  content: SharedContent,
): Promise<Bytes> {
  return sealSignedShareTicket(
    recipient,
    await signDocument(
      "ticket",
      {
        v: 1 as const,
        kind: "share" as const,
        share_id: shareId,
        audience,
        secret_id: content.secretId,
        version: content.version,
        rev,
        owner,
        owner_key: toBase64url(keys.signingKey),
        recipient: computeRecipientDigest(recipient),
        title,
        tags: [],
        name,
        mime: content.mime,
        content_kind: content.kind,
        size: content.size,
        content_sha256: content.sha256,
        content_identity: content.identity,
        created_at: createdAt,
      },
      keys.signer,
    ),
  );
}

/** Seals a ticket as it was signed. */
export async function sealSignedShareTicket(recipient: string, ticket: ShareTicket): Promise<Bytes> {
  const plain = serializeDocument(ticket);
  try {
    return await sealTo([recipient], plain);
  } finally {
    wipe(plain);
  }
}
