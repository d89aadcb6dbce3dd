import { Id } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { buildNextChange } from "../keyring/build-keyring-change.ts";
import { publishWithRetry, requireOpenedKeyring, type Attempt } from "../keyring/publish.ts";
import type { AccountView } from "../keyring/read-account.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import { publishEndedShares } from "../shares/change-shares.ts";
import type { VaultSession } from "../session/vault-session.ts";

/*
 * All operations in this file but `confirmTrash` need a sign-in and no opener. They change sealed
 * documents only to mark shares as ended.
 */

export async function setFavorite(vault: VaultSession, secretId: string, favorite: boolean): Promise<void> {
  const row = await vault.service.setFavorite(requireId(secretId), favorite);
  if (row.secret_db_id !== secretId || row.favorite !== favorite) throw new PortalError("bad_answer");
}

/**
 * Moves a secret to the trash. The service ends the secret's shares; an unlocked device also marks
 * them as ended. With the account key the 30 days begin at once; without it, when the person
 * confirms.
 */
export async function moveToTrash(vault: VaultSession, secretId: string): Promise<void> {
  await vault.service.trash(requireId(secretId));
  await markSharesOfSecretEnded(vault, secretId);
  if (vault.accountKey !== null)
    await confirmTrash(vault, [secretId]).catch((error: unknown) => {
      if (!isPortalError(error)) throw error; // the secret is in the trash; the list asks for confirmation
    });
}

/**
 * Begins the 30 days of secrets in the trash. Ignores secrets that left it, or whose days have
 * begun.
 *
 * @throws PortalError `show_opener_first`, `vault_locked`, and errors of publishing
 */
export async function confirmTrash(
  vault: VaultSession,
  secretIds: readonly string[],
  options: OperationOptions = {},
): Promise<void> {
  const requestedIds = new Set(secretIds);
  const findUnconfirmed = ({ rows }: AccountView): string[] =>
    [...rows.values()]
      .filter(
        ({ secretId, storedSecret }) =>
          requestedIds.has(secretId) &&
          storedSecret.deleted_at !== undefined &&
          storedSecret.trash_confirmed_at === undefined,
      )
      .map(({ secretId }) => secretId);
  const prepare = async (account: AccountView | null): Promise<Attempt<"done"> | { readonly done: "done" }> => {
    const openedKeyring = requireOpenedKeyring(account);
    if (account === null || openedKeyring === null) throw new PortalError("not_found");
    const unconfirmedIds = findUnconfirmed(account);
    if (unconfirmedIds.length === 0) return { done: "done" };
    const change = await buildNextChange(vault, account, openedKeyring, [...account.rows.values()], {
      trashConfirm: unconfirmedIds,
    });
    return { change, send: () => vault.service.changeKeyring(change.keyringChange), result: "done" };
  };
  const findPublished = (account: AccountView): "done" | null =>
    findUnconfirmed(account).length === 0 ? "done" : null;
  await publishWithRetry(vault, { prepare, findPublished }, options);
}

/**
 * Restores a secret from the trash; its shares stay ended. An unlocked device first marks them as
 * ended, in case a locked device trashed the secret without marking them.
 */
export async function restoreFromTrash(vault: VaultSession, secretId: string): Promise<void> {
  await markSharesOfSecretEnded(vault, requireId(secretId));
  await vault.service.store({ secret_db_id: secretId, restore: true });
}

/**
 * Marks nothing after the secret has left the trash, because another device may have shared it
 * again.
 */
async function markSharesOfSecretEnded(vault: VaultSession, secretId: string): Promise<void> {
  if (vault.keys === null) return;
  try {
    await publishEndedShares(
      vault,
      (entry, { rows }) => entry.secret_id === secretId && rows.get(secretId)?.storedSecret.deleted_at !== undefined,
    );
  } catch (error) {
    // the service has ended the shares; without the mark, their list reports a discrepancy
    if (!isPortalError(error)) throw error;
  }
}

/** Rejects other text than ids, since ids from URLs become part of request paths. */
function requireId(secretId: string): string {
  if (!Id.safeParse(secretId).success) throw new PortalError("not_found");
  return secretId;
}
