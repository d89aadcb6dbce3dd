import type { ContentKind, OpenedSecret } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { readTicket } from "../secrets/read-ticket.ts";
import { withPresentedOpener } from "../openers/with-presented-opener.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import { openRowLabel, requireRow } from "../keyring/read-account.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";

/**
 * One version of an own secret, opened so far that it can be sealed for somebody else. Holds its
 * identity: a secret.
 */
export interface SharedContent {
  readonly secretId: string;
  readonly version: number;
  readonly identity: string;
  /** base64url, over the whole ciphertext. */
  readonly sha256: string;
  readonly kind: ContentKind;
  /** Bytes of the plain content. */
  readonly size: number;
  readonly mime: string;
  readonly author: OpenedSecret["author"];
}

/**
 * The present version of a secret. What this account did not sign is not signed for others.
 *
 * @throws PortalError those of recovering; `decryption_failed`.
 */
export async function openSharedContent(
  vault: VaultSession,
  secretId: string,
  presentedOpener: PresentedOpener,
  options: OperationOptions,
): Promise<SharedContent> {
  const content = await openCurrentVersion(vault, secretId, presentedOpener, options);
  if (content.author !== "verified") throw new PortalError("decryption_failed");
  return content;
}

function openCurrentVersion(
  vault: VaultSession,
  secretId: string,
  presentedOpener: PresentedOpener,
  options: OperationOptions,
): Promise<SharedContent> {
  return withPresentedOpener(vault, presentedOpener, options, async (account, presentOpener) => {
    const { openedKeyring, row } = requireRow(account, secretId);
    const label = await openRowLabel(vault.userId, openedKeyring.keys, row);
    const opener = await presentOpener();
    if (!label.openers.includes(opener.openerId)) throw new PortalError("opener_needed");
    const stored = await vault.service.getSecret(secretId, null, options.signal);
    const { ticket, author } = await readTicket(
      vault.userId,
      openedKeyring,
      { row, label, version: row.version },
      stored,
      opener,
    );
    return {
      secretId,
      version: row.version,
      identity: ticket.content_identity,
      sha256: ticket.content_sha256,
      kind: ticket.content_kind,
      size: ticket.size,
      mime: ticket.mime,
      author,
    };
  });
}
