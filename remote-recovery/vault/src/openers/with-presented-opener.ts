import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { OpenerKeys } from "../seal/opener.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { readAccount, type AccountView } from "../keyring/read-account.ts";
import { copyKeptOpener, presentOpener } from "./open-account.ts";
import { unlock } from "../openers/unlock.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";

/**
 * Runs one operation with an opener, which unlocks a locked device first. The operation calls
 * `presentOpener` after its cheap checks, because presenting reads the picture. Wipes the opener
 * afterwards.
 *
 * @param presentedOpener null for the opener that is kept open
 * @throws PortalError those of {@link unlock} and of the operation; `show_opener_first` if no kept
 *   opener serves the operation
 */
export async function withPresentedOpener<T>(
  vault: VaultSession,
  presentedOpener: PresentedOpener | null,
  options: OperationOptions,
  operation: (account: AccountView | null, presentOpener: () => Promise<OpenerKeys>) => Promise<T>,
): Promise<T> {
  const current: { opener: OpenerKeys | null } = { opener: null };
  const unlockFirst = async (): Promise<AccountView | null> => {
    if (presentedOpener === null) throw new PortalError("show_opener_first");
    const { opener, view } = await unlock(vault, presentedOpener, options);
    current.opener = opener;
    return readAccount(vault, options.signal, view);
  };
  const presentOnce = async (account: AccountView | null): Promise<OpenerKeys> => {
    if (account === null) throw new PortalError("no_keyring");
    return (current.opener ??=
      presentedOpener === null
        ? copyKeptOpener(vault, account.view)
        : await presentOpener(vault, presentedOpener, account.view, options));
  };
  try {
    const initialAccount = vault.keys === null ? await unlockFirst() : await readAccount(vault, options.signal);
    // the session has keys of a former epoch, so the opener unlocks again
    const account = initialAccount?.view.openedKeyring === null ? await unlockFirst() : initialAccount;
    return await operation(account, () => presentOnce(account));
  } catch (error) {
    if (presentedOpener === null && isPortalError(error, "opener_needed"))
      throw new PortalError("show_opener_first", { cause: error });
    throw error;
  } finally {
    current.opener?.wipe();
  }
}
