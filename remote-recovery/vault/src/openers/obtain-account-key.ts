import { unlock } from "./unlock.ts";
import type { AccountKey } from "../seal/account-key.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { presentOpener } from "./open-account.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";

/**
 * Returns the account key from memory, or obtains it with an opener. On a locked device, the opener
 * unlocks first.
 *
 * @throws PortalError `show_opener_first` without an opener if none was presented since the page
 *   was loaded or locked; those of {@link unlock}
 */
export async function obtainAccountKey(
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
