import { PortalError } from "@relicario/shared/errors";

import { unlock } from "../operations/unlock.ts";
import type { AccountKey } from "../seal/account-key.ts";
import type { PresentedOpener } from "../presented-opener.ts";
import type { OperationOptions, VaultContext } from "../vault-context.ts";
import { presentOpener } from "./open-account.ts";
import { readKeyring } from "./read-keyring.ts";

/**
 * The account key for an operation that needs it: that in memory, or by an opener that is shown for
 * it. On a locked device the opener unlocks first.
 *
 * @throws PortalError `show_opener_first` without an opener where none was shown since load or
 *   lock, and those of {@link unlock}.
 */
export async function requireAccountKey(
  vault: VaultContext,
  presentedOpener: PresentedOpener | null,
  options: OperationOptions,
): Promise<AccountKey> {
  if (presentedOpener === null) {
    if (vault.keys === null) throw new PortalError("vault_locked");
    if (vault.accountKey === null) throw new PortalError("show_opener_first");
    return vault.accountKey;
  }
  const view = vault.keys === null ? null : await readKeyring(vault, options.signal);
  const { opener } =
    view?.openedKeyring == null
      ? await unlock(vault, presentedOpener, options)
      : { opener: await presentOpener(vault, presentedOpener, view, options) };
  opener.wipe();
  if (vault.accountKey === null) throw new PortalError("show_opener_first");
  return vault.accountKey;
}
