import { PortalError } from "@relicario/shared/errors";

import { unlock } from "../acts/unlock.ts";
import type { AccountKey } from "../seal/account-key.ts";
import type { Shown } from "../shown-image.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import { showOpener } from "./open-account.ts";
import { readKeyring } from "./read-keyring.ts";

/**
 * The account key for an act that needs it: that in memory, or by an opener that is shown for it.
 * On a locked device the opener unlocks first.
 *
 * @throws PortalError `show_opener_first` without an opener where none was shown since load or
 *   lock, and those of {@link unlock}.
 */
export async function requireAccountKey(
  vault: VaultContext,
  shown: Shown | null,
  options: ActOptions,
): Promise<AccountKey> {
  if (shown === null) {
    if (vault.keys === null) throw new PortalError("vault_locked");
    if (vault.accountKey === null) throw new PortalError("show_opener_first");
    return vault.accountKey;
  }
  const view = vault.keys === null ? null : await readKeyring(vault, options.signal);
  const { opener } =
    view?.opened == null
      ? await unlock(vault, shown, options)
      : { opener: await showOpener(vault, shown, view, options) };
  opener.forget();
  if (vault.accountKey === null) throw new PortalError("show_opener_first");
  return vault.accountKey;
}
