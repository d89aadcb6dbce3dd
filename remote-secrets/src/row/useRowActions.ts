import { trashRetentionDays } from "@relicario/shared/api";
import { usePortal, type SecretRow, type Vault } from "@relicario/shared/contract";
import { useLayoutEffect, useMemo, useRef } from "react";
import { useTranslation } from "react-i18next";

import { countLiveShares } from "../data/live-shares.ts";
import { useRestore, useSetFavorite, useTrash } from "../data/row-mutations.ts";
import type { RowActions } from "./SecretRowCard.tsx";

export interface ListActions {
  readonly rowActions: RowActions;
  readonly favorite: (rows: readonly SecretRow[], favorite: boolean) => void;
  /** Asks for confirmation. Like the next member, resolves with true on success. */
  readonly trash: (rows: readonly SecretRow[]) => Promise<boolean>;
  readonly restore: (rows: readonly SecretRow[]) => Promise<boolean>;
  readonly pending: boolean;
  readonly error: unknown;
}

const toSecretIds = (rows: readonly SecretRow[]) => rows.map(({ secretId }) => secretId);

/** Actions on rows, with confirmations and notices. They never reject: the list shows `error`. */
export function useRowActions(
  vault: Vault,
  onSelect: RowActions["select"],
  requestPurge: ((rows: readonly SecretRow[]) => void) | null,
): ListActions {
  const { t } = useTranslation("beta-home");
  const { confirm, notify } = usePortal();
  const favorite = useSetFavorite(vault);
  const trash = useTrash(vault);
  const restore = useRestore(vault);
  const mutations = [favorite, trash, restore];

  const actions = {
    favorite: (rows: readonly SecretRow[], isFavorite: boolean) => {
      favorite.mutate({ secretIds: toSecretIds(rows), favorite: isFavorite });
    },
    trash: async (rows: readonly SecretRow[]) => {
      const shareCount = await countLiveShares(vault, ({ secretId }) => rows.some((row) => row.secretId === secretId));
      const body = t("trash.confirm_body", { count: rows.length, days: trashRetentionDays });
      const confirmed = await confirm({
        title: t("trash.confirm_title", { count: rows.length }),
        description: shareCount === 0 ? body : `${body} ${t("trash.shares_body", { count: shareCount })}`,
        confirmLabel: t("trash.confirm_action"),
        alert: true,
      });
      if (!confirmed || !(await isFulfilled(trash.mutateAsync(toSecretIds(rows))))) return false;
      notify({ tone: "success", text: t("trash.done_status") });
      return true;
    },
    restore: async (rows: readonly SecretRow[]) => {
      if (!(await isFulfilled(restore.mutateAsync(toSecretIds(rows))))) return false;
      notify({ tone: "success", text: t("trash.restored_status") });
      return true;
    },
  };
  const currentHandlers = { ...actions, onSelect, requestPurge };
  const latestHandlers = useRef(currentHandlers);
  // Handlers read this ref, so that `rowActions` stays the same object and memoised rows do not
  // render again.
  useLayoutEffect(() => {
    latestHandlers.current = currentHandlers;
  });
  const canPurge = requestPurge !== null;
  const rowActions = useMemo<RowActions>(
    () => ({
      favorite: (row, isFavorite) => {
        latestHandlers.current.favorite([row], isFavorite);
      },
      trash: (row) => void latestHandlers.current.trash([row]),
      restore: (row) => void latestHandlers.current.restore([row]),
      purge: canPurge ? (row) => latestHandlers.current.requestPurge?.([row]) : null,
      select: (row, selected) => {
        latestHandlers.current.onSelect(row, selected);
      },
    }),
    [canPurge],
  );
  return {
    ...actions,
    rowActions,
    pending: mutations.some(({ isPending }) => isPending),
    error: mutations.find(({ error }) => error !== null)?.error ?? null,
  };
}

async function isFulfilled(promise: Promise<unknown>): Promise<boolean> {
  try {
    await promise;
    return true;
  } catch {
    return false; // the mutation holds the error, and the list shows `ListActions.error`
  }
}
