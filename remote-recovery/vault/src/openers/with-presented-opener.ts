import { PortalError } from "@relicario/shared/errors";

import type { OpenerKeys } from "../seal/opener.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { readAccount, type AccountView } from "../keyring/read-account.ts";
import { presentOpener } from "./open-account.ts";
import { unlock } from "../openers/unlock.ts";
import type { PresentedOpener } from "../rpc/presented-opener.ts";

/**
 * One operation with a picture that is shown for it; on a locked device the picture unlocks first.
 * `presentOpener` looks at the picture, so that what needs no looking is refused before. The opener
 * is wiped afterwards.
 *
 * @throws PortalError those of {@link unlock} and of the operation.
 */
export async function withPresentedOpener<T>(
  vault: VaultSession,
  presentedOpener: PresentedOpener,
  options: OperationOptions,
  operation: (account: AccountView | null, presentOpener: () => Promise<OpenerKeys>) => Promise<T>,
): Promise<T> {
  const current: { opener: OpenerKeys | null } = { opener: null };
  const unlockFirst = async (): Promise<AccountView | null> => {
    const unlocked = await unlock(vault, presentedOpener, options);
    current.opener = unlocked.opener;
    return readAccount(vault, options.signal, unlocked.view);
  };
  const presentOnce = async (account: AccountView | null): Promise<OpenerKeys> => {
    if (account === null) throw new PortalError("no_keyring");
    return (current.opener ??= await presentOpener(vault, presentedOpener, account.view, options));
  };
  try {
    const initialAccount = vault.keys === null ? await unlockFirst() : await readAccount(vault, options.signal);
    // its keys are of a former generation
    const account = initialAccount?.view.openedKeyring === null ? await unlockFirst() : initialAccount;
    return await operation(account, () => presentOnce(account));
  } finally {
    current.opener?.wipe();
  }
}
