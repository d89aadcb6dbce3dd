import { PortalError } from "@relicario/shared/errors";

import { wipe } from "../seal/bytes.ts";
import { formatTimestamp } from "../seal/ids.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { openSecretWith } from "./open-secret.ts";
import { withPresentedOpener } from "../openers/with-presented-opener.ts";
import { changeLabel } from "./update.ts";

/** Result of a copy check, with its time in RFC 3339. */
export interface CopyCheck {
  readonly copyCheckedAt: string;
}

/**
 * Proves that the presented copy opens a secret, without returning anything of the secret. Opens
 * and wipes a content that fits into one call, which verifies digest, age and padding; verifies
 * only the ticket of a larger content. Refuses a ticket that this account did not sign, which would
 * prove nothing. Writes the date for this opener into the label.
 *
 * @throws PortalError those of {@link openSecretWith} and of a new label; `version_conflict` if
 *   another version was published meanwhile
 */
export async function checkCopy(
  vault: VaultSession,
  secretId: string,
  presentedOpener: PresentedOpener,
  options: OperationOptions = {},
): Promise<CopyCheck> {
  const proof = await withPresentedOpener(vault, presentedOpener, options, async (account, presentOpener) => {
    const { secret, openerId } = await openSecretWith(vault, account, secretId, presentOpener, options);
    if (secret.content !== null) wipe(secret.content);
    if (secret.signatureStatus !== "verified") throw new PortalError("decryption_failed");
    return { openerId, version: secret.version };
  });
  const copyCheckedAt = formatTimestamp(vault.now());
  await changeLabel(
    vault,
    secretId,
    (label, row) => {
      if (row.version !== proof.version)
        throw new PortalError("version_conflict", { details: { version: row.version } });
      const otherChecks = label.rehearsed.filter((copyCheck) => copyCheck.opener_id !== proof.openerId);
      return { ...label, rehearsed: [...otherChecks, { opener_id: proof.openerId, at: copyCheckedAt }] };
    },
    options,
  );
  return { copyCheckedAt };
}
