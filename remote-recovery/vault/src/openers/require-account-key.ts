import { unlock } from "./unlock.ts";
import type { AccountKey } from "../seal/account-key.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { presentOpener } from "./open-account.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";

/**
 * The account key for an operation that needs it: that in memory, or by an opener that is shown for
 * it. On a locked device the opener unlocks first.
 *
 * @throws PortalError `show_opener_first` without an opener where none was shown since load or
 *   lock, and those of {@link unlock}.
 */
export async function requireAccountKey(
  vault: VaultSession,
  presentedOpener: PresentedOpener | null,
  options: OperationOptions,
): Promise<AccountKey> {
  if (presentedOpener === null) {
    return vault.requireAccountKey();
  }
  const view = vault.keys === null ? null : await refreshKeyring(vault, options.signal);
  const { opener } =
    view?.openedKeyring == null
      ? await unlock(vault, presentedOpener, options)
      : { opener: await presentOpener(vault, presentedOpener, view, options) };
  opener.wipe();
  return vault.requireAccountKey();
}
