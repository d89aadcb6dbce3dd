import { PortalError } from "@relicario/shared/errors";

import { wipe } from "../seal/bytes.ts";
import { timestamp } from "../seal/ids.ts";
import type { Shown } from "../shown-image.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import { openWith, withShownOpener } from "./recover.ts";
import { changeLabel } from "./update.ts";

/** When a kept copy was proved to open a secret. RFC 3339. */
export interface Rehearsed {
  readonly rehearsedAt: string;
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
export async function rehearse(
  vault: VaultContext,
  secretId: string,
  shown: Shown,
  options: ActOptions = {},
): Promise<Rehearsed> {
  const proved = await withShownOpener(vault, shown, options, async (account, show) => {
    const { secret, openerId } = await openWith(vault, account, secretId, show, options);
    if (secret.content !== null) wipe(secret.content);
    if (secret.author !== "verified") throw new PortalError("decryption_failed");
    return { openerId, version: secret.version };
  });
  const rehearsedAt = timestamp(vault.now());
  await changeLabel(
    vault,
    secretId,
    (before, row) => {
      if (row.version !== proved.version)
        throw new PortalError("version_conflict", { details: { version: row.version } });
      const others = before.rehearsed.filter((one) => one.opener_id !== proved.openerId);
      return { ...before, rehearsed: [...others, { opener_id: proved.openerId, at: rehearsedAt }] };
    },
    options,
  );
  return { rehearsedAt };
}
