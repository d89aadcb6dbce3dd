import { PortalError } from "@relicario/shared/errors";

import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { readAccount, requireRow, type AccountView } from "../keyring/read-account.ts";
import { publishWithRetry, requireOpenedKeyring, type Attempt } from "../keyring/publish.ts";
import { buildNextChange } from "../keyring/build-keyring-change.ts";
import { markSharesEnded } from "../keyring/shares-document.ts";

/**
 * Deletes secrets from the trash and ends their shares. One signed keyring change removes all rows
 * from the state, or none. Rows that another device has removed meanwhile count as deleted.
 *
 * @throws PortalError `not_in_trash`, `not_found`, `vault_locked`, and errors of publishing
 */
export async function purge(
  vault: VaultSession,
  secretIds: readonly string[],
  options: OperationOptions = {},
): Promise<void> {
  const requestedIds = new Set(secretIds);
  if (requestedIds.size === 0) return;
  assertAllKnown(await readAccount(vault, options.signal), requestedIds);

  const prepare = async (account: AccountView | null): Promise<Attempt<"removed"> | { done: "removed" }> => {
    const openedKeyring = requireOpenedKeyring(account);
    if (account === null || openedKeyring === null) throw new PortalError("not_found");
    const rows = [...account.rows.values()];
    const purgedRows = rows.filter(({ secretId }) => requestedIds.has(secretId));
    if (purgedRows.length === 0) return { done: "removed" };
    if (purgedRows.some(({ storedSecret }) => storedSecret.deleted_at === undefined))
      throw new PortalError("not_in_trash");
    const remainingRows = rows.filter(({ secretId }) => !requestedIds.has(secretId));
    const shares = markSharesEnded(openedKeyring.shares, vault.now(), ({ secret_id: secretId }) =>
      requestedIds.has(secretId),
    );
    const change = await buildNextChange(vault, account, openedKeyring, remainingRows, {
      ...(shares === null ? {} : { documents: { shares } }),
      purge: purgedRows.map(({ secretId }) => secretId),
    });
    return { change, send: () => vault.service.changeKeyring(change.keyringChange), result: "removed" };
  };
  const findPublished = ({ rows }: AccountView): "removed" | null =>
    [...requestedIds].some((secretId) => rows.has(secretId)) ? null : "removed";
  await publishWithRetry(vault, { prepare, findPublished }, options);
}

function assertAllKnown(account: AccountView | null, requestedIds: ReadonlySet<string>): void {
  for (const secretId of requestedIds) requireRow(account, secretId);
}
