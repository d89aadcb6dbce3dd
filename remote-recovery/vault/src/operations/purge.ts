import { PortalError } from "@relicario/shared/errors";

import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { readAccount, requireRow, type AccountView } from "../keyring/read-account.ts";
import { publishWithRetry, requireOpenedKeyring, type Attempt } from "../keyring/publish.ts";
import { buildNextChange } from "../keyring/build-keyring-change.ts";
import { withSharesEnded } from "../keyring/shares-document.ts";

/**
 * Removes secrets for good: one signed keyring change takes their rows out of the state, all or
 * none. Only what is in the trash. Their shares end with them. What another device removed
 * meanwhile counts as removed.
 *
 * @throws PortalError `not_in_trash`, `not_found`, `vault_locked`, and those of publishing.
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
    if (purgedRows.some(({ stored }) => stored.deleted_at === undefined)) throw new PortalError("not_in_trash");
    const remainingRows = rows.filter(({ secretId }) => !requestedIds.has(secretId));
    const shares = withSharesEnded(openedKeyring.shares, vault.now(), ({ secret_id: secretId }) =>
      requestedIds.has(secretId),
    );
    const change = await buildNextChange(vault, account, openedKeyring, remainingRows, {
      ...(shares === null ? {} : { documents: { shares } }),
      purge: purgedRows.map(({ secretId }) => secretId),
    });
    return { change, send: () => vault.service.changeKeyring(change.keyring), result: "removed" };
  };
  const findPublished = ({ rows }: AccountView): "removed" | null =>
    [...requestedIds].some((secretId) => rows.has(secretId)) ? null : "removed";
  await publishWithRetry(vault, { prepare, findPublished }, options);
}

function assertAllKnown(account: AccountView | null, requestedIds: ReadonlySet<string>): void {
  for (const secretId of requestedIds) requireRow(account, secretId);
}
