import { toBase64url, type TicketSignature } from "@relicario/shared/api";

import { signSealedTicket } from "../seal/account-signatures.ts";
import { signDocument, type AccountKey } from "../seal/account-key.ts";
import { sealTo } from "../seal/age.ts";
import { wipe, type Bytes } from "../seal/bytes.ts";
import { serializeDocument } from "../seal/document.ts";
import type { Label } from "../seal/label.ts";
import { computeRecipientDigest, type ShareTicket } from "../seal/share-ticket.ts";
import type { SharedContentKey } from "./shared-content-key.ts";

export interface ShareTicketTarget {
  readonly shareId: string;
  readonly audience: ShareTicket["audience"];
  readonly rev: number;
  readonly recipient: string;
  readonly owner: string;
  /** Time of sealing (RFC 3339). */
  readonly createdAt: string;
}

/** Signs and seals the ticket of a share, with the current title and name. Tags are not shared. */
export async function sealShareTicket(
  accountKey: AccountKey,
  { shareId, audience, rev, recipient, owner, createdAt }: ShareTicketTarget,
  { title, name }: Pick<Label, "title" | "name">,
  content: SharedContentKey,
): Promise<{ readonly ticket: Bytes; readonly signature: TicketSignature }> {
  const ticket = await sealSignedShareTicket(
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
        owner_key: toBase64url(accountKey.getAuthorPublicKey()),
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
      await accountKey.getAuthor(),
    ),
  );
  const { secretId, version, sha256: contentSha256 } = content;
  const facts = { userId: owner, secretId, version, rev, shareId, contentSha256 };
  return { ticket, signature: await signSealedTicket(accountKey, ticket, facts) };
}

export async function sealSignedShareTicket(recipient: string, ticket: ShareTicket): Promise<Bytes> {
  const plainBytes = serializeDocument(ticket);
  try {
    return await sealTo([recipient], plainBytes);
  } finally {
    wipe(plainBytes);
  }
}
