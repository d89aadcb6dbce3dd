import type { ContentKind, OpenedSecret } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { readTicket } from "../secrets/read-ticket.ts";
import { withPresentedOpener } from "../openers/with-presented-opener.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import { openRowLabel, requireRow } from "../keyring/read-account.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";

/**
 * The content key and facts of one version, to be sealed to a recipient. Contains the content
 * identity, which is secret.
 */
export interface SharedContentKey {
  readonly secretId: string;
  readonly version: number;
  readonly identity: string;
  /** Digest of the whole ciphertext, base64url. */
  readonly sha256: string;
  readonly kind: ContentKind;
  /** Length of the plain content in bytes. */
  readonly size: number;
  readonly mime: string;
  readonly signatureStatus: OpenedSecret["signatureStatus"];
}

/**
 * Opens the ticket of the current version. Refuses a ticket that this account did not sign, because
 * sharing would sign it.
 *
 * @throws PortalError errors of opening a secret; `decryption_failed`
 */
export async function openSharedContentKey(
  vault: VaultSession,
  secretId: string,
  presentedOpener: PresentedOpener | null,
  options: OperationOptions,
): Promise<SharedContentKey> {
  const content = await openCurrentVersion(vault, secretId, presentedOpener, options);
  if (content.signatureStatus !== "verified") throw new PortalError("decryption_failed");
  return content;
}

function openCurrentVersion(
  vault: VaultSession,
  secretId: string,
  presentedOpener: PresentedOpener | null,
  options: OperationOptions,
): Promise<SharedContentKey> {
  return withPresentedOpener(vault, presentedOpener, options, async (account, presentOpener) => {
    const { openedKeyring, row } = requireRow(account, secretId);
    const label = await openRowLabel(vault.userId, openedKeyring.keys, row);
    const opener = await presentOpener();
    if (!label.openers.includes(opener.openerId)) throw new PortalError("opener_needed");
    const storedSecret = await vault.service.getSecret(secretId, null, options.signal);
    const { ticket, signatureStatus } = await readTicket(
      vault,
      openedKeyring,
      { row, label, version: row.version },
      storedSecret,
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
      signatureStatus,
    };
  });
}
