import { PortalError } from "@relicario/shared/errors";

import { wipe } from "../seal/bytes.ts";
import { formatTimestamp } from "../seal/ids.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { openSecretWith } from "./open-secret.ts";
import { withPresentedOpener } from "../openers/with-presented-opener.ts";
import { changeLabel } from "./update.ts";

/** When a kept copy was proved to open a secret. RFC 3339. */
export interface CopyCheck {
  readonly copyCheckedAt: string;
}

/**
 * Proves that the shown copy opens a secret, and gives out nothing of it. A content that goes in
 * one call is opened and wiped, so that its digest, age and padding were checked; of a larger one
 * the ticket with its key. What this account did not sign proves nothing. The date goes into the
 * label, with the opener that it holds for.
 *
 * @throws PortalError those of {@link recover} and of a new label; `version_conflict` when another
 *   version took its place meanwhile.
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
    if (secret.author !== "verified") throw new PortalError("decryption_failed");
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
