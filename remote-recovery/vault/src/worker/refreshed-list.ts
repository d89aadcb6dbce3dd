import type { ListOptions, VaultState } from "@relicario/shared/contract";

import { isLatest, refreshKeyring } from "../keyring/refresh-keyring.ts";
import type { KeyringView } from "../session/keyring-views.ts";
import { list } from "../operations/list.ts";
import type { VaultSession } from "../session/vault-session.ts";

/** How long a list may use the keyring of a refresh. */
const refreshedViewLifetimeMilliseconds = 5_000;

export type RefreshedList = ReturnType<typeof createRefreshedList>;

/** A list after a refresh uses the refresh's keyring once, instead of reading it again. */
export function createRefreshedList() {
  /** `readAt` is a value of `performance.now()`. */
  let lastRefresh: { readonly view: KeyringView; readonly readAt: number } | null = null;
  return {
    refresh: async (vault: VaultSession): Promise<VaultState> => {
      vault.listCache.load().catch(() => undefined); // the list that follows reports the failure
      lastRefresh = null;
      const view = await refreshKeyring(vault);
      lastRefresh = view === null ? null : { view, readAt: performance.now() };
      return vault.state;
    },
    /** Passes every row to `onRows`, newest first, before resolving; see {@link Vault.list}. */
    list: async (vault: VaultSession, options: ListOptions): Promise<void> => {
      const recentView =
        lastRefresh !== null && performance.now() - lastRefresh.readAt < refreshedViewLifetimeMilliseconds
          ? lastRefresh.view
          : null;
      lastRefresh = null;
      await list(vault, options, recentView !== null && (await isLatest(vault, recentView)) ? recentView : undefined);
    },
  };
}
