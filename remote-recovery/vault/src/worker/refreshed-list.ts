import type { ListOptions, VaultState } from "@relicario/shared/contract";

import { isLatest, refreshKeyring } from "../keyring/refresh-keyring.ts";
import type { KeyringView } from "../session/keyring-views.ts";
import { list } from "../operations/list.ts";
import type { VaultSession } from "../session/vault-session.ts";

/** How long a keyring that was read counts as the present one for a list. */
const refreshedViewLifetimeMs = 5_000;

export type RefreshedList = ReturnType<typeof createRefreshedList>;

/** A list that follows a refresh goes by the keyring that the refresh read, once. */
export function createRefreshedList() {
  /** And when it was read, by the worker's own clock. */
  let lastRefresh: { readonly view: KeyringView; readonly at: number } | null = null;
  return {
    refresh: async (vault: VaultSession): Promise<VaultState> => {
      vault.list.load().catch(() => undefined); // the list follows, and says what is wrong
      lastRefresh = null;
      const view = await refreshKeyring(vault);
      lastRefresh = view === null ? null : { view, at: performance.now() };
      return vault.state;
    },
    /**
     * Every row goes to `onRows`, the newest first, before this is answered; see {@link
     * Vault.list}.
     */
    list: async (vault: VaultSession, options: ListOptions): Promise<void> => {
      const recentView =
        lastRefresh !== null && performance.now() - lastRefresh.at < refreshedViewLifetimeMs ? lastRefresh.view : null;
      lastRefresh = null;
      await list(vault, options, recentView !== null && (await isLatest(vault, recentView)) ? recentView : undefined);
    },
  };
}
