import { PortalError } from "@relicario/shared/errors";

import type { ActOptions, VaultContext } from "../vault-context.ts";
import { readAccount, requireRow, type AccountView } from "../steps/read-account.ts";
import { publishUntilItFits, requireOpened, type Attempt } from "../steps/publish.ts";
import { nextChange } from "../steps/signed-change.ts";
import { withEnded } from "../shares/shares-document.ts";

/**
 * Removes secrets for good: one signed keyring change takes their rows out of the state, all or
 * none. Only what is in the trash. Their shares end with them. What another device removed
 * meanwhile counts as removed.
 *
 * @throws PortalError `not_in_trash`, `not_found`, `vault_locked`, and those of publishing.
 */
export async function purge(
  vault: VaultContext,
  secretIds: readonly string[],
  options: ActOptions = {},
): Promise<void> {
  const wanted = new Set(secretIds);
  if (wanted.size === 0) return;
  refuseUnknown(await readAccount(vault, options.signal), wanted);

  const prepare = async (account: AccountView | null): Promise<Attempt<"gone"> | { done: "gone" }> => {
    const opened = requireOpened(account);
    if (account === null || opened === null) throw new PortalError("not_found");
    const rows = [...account.rows.values()];
    const going = rows.filter(({ secretId }) => wanted.has(secretId));
    if (going.length === 0) return { done: "gone" };
    if (going.some(({ stored }) => stored.deleted_at === undefined)) throw new PortalError("not_in_trash");
    const left = rows.filter(({ secretId }) => !wanted.has(secretId));
    const shares = withEnded(opened.shares, vault.now(), ({ secret_id: secretId }) => wanted.has(secretId));
    const change = await nextChange(vault, account, opened, left, {
      ...(shares === null ? {} : { documents: { shares } }),
      purge: going.map(({ secretId }) => secretId),
    });
    return { change, send: () => vault.service.changeKeyring(change.keyring), result: "gone" };
  };
  const published = ({ rows }: AccountView): "gone" | null =>
    [...wanted].some((secretId) => rows.has(secretId)) ? null : "gone";
  await publishUntilItFits(vault, { prepare, published }, options);
}

function refuseUnknown(account: AccountView | null, wanted: ReadonlySet<string>): void {
  for (const secretId of wanted) requireRow(account, secretId);
}
