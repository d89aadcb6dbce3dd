import type { ContentKind, RecoveredSecret } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { readTicket, withShownOpener } from "../acts/recover.ts";
import type { Shown } from "../shown-image.ts";
import { labelOf, requireRow } from "../steps/read-account.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";

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
  readonly author: RecoveredSecret["author"];
}

/**
 * The present version of a secret. What this account did not sign is not signed for others.
 *
 * @throws PortalError those of recovering; `decryption_failed`.
 */
export async function sharedContent(
  vault: VaultContext,
  secretId: string,
  shown: Shown,
  options: ActOptions,
): Promise<SharedContent> {
  const content = await openedBy(vault, secretId, shown, options);
  if (content.author !== "verified") throw new PortalError("decryption_failed");
  return content;
}

function openedBy(vault: VaultContext, secretId: string, shown: Shown, options: ActOptions): Promise<SharedContent> {
  return withShownOpener(vault, shown, options, async (account, show) => {
    const { opened, row } = requireRow(account, secretId);
    const label = await labelOf(vault.userId, opened.keys, row);
    const opener = await show();
    if (!label.openers.includes(opener.openerId)) throw new PortalError("opener_needed");
    const stored = await vault.service.secret(secretId, null, options.signal);
    const { ticket, author } = await readTicket(
      vault.userId,
      opened,
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
