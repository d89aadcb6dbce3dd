import { trashDays } from "@relicario/shared/api";
import { usePortal, type SecretRow, type Vault } from "@relicario/shared/contract";
import { useLayoutEffect, useMemo, useRef } from "react";
import { useTranslation } from "react-i18next";

import { countLiveShares } from "../data/live-shares.ts";
import { usePurge, useRestore, useSetFavorite, useTrash } from "../data/row-mutations.ts";
import type { RowActions } from "./SecretRowCard.tsx";

export interface ListActions {
  readonly forRow: RowActions;
  readonly favorite: (rows: readonly SecretRow[], favorite: boolean) => void;
  /** Asks for confirmation first. Like the next two, resolves to true when it was done. */
  readonly trash: (rows: readonly SecretRow[]) => Promise<boolean>;
  readonly restore: (rows: readonly SecretRow[]) => Promise<boolean>;
  readonly purge: (rows: readonly SecretRow[]) => Promise<boolean>;
  readonly pending: boolean;
  /** Error of the last action; null when none failed. */
  readonly error: unknown;
}

const idsOf = (rows: readonly SecretRow[]) => rows.map(({ secretId }) => secretId);

/**
 * Actions on one row or several, with confirmation and notices. Errors are not thrown: the list
 * shows `error`.
 */
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
  const purge = usePurge(vault);
  const all = [favorite, trash, restore, purge];

  const actions = {
    favorite: (rows: readonly SecretRow[], starred: boolean) => {
      favorite.mutate({ secretIds: idsOf(rows), favorite: starred });
    },
    trash: async (rows: readonly SecretRow[]) => {
      const shares = await countLiveShares(vault, ({ secretId }) => rows.some((row) => row.secretId === secretId));
      const body = t("trash.confirm_body", { days: trashDays });
      const sure = await confirm({
        title: t("trash.confirm_title", { count: rows.length }),
        description: shares === 0 ? body : `${body} ${t("trash.shares_body", { count: shares })}`,
        confirmLabel: t("trash.confirm_action"),
        alert: true,
      });
      if (!sure || !(await succeeds(trash.mutateAsync(idsOf(rows))))) return false;
      notify({ tone: "success", text: t("trash.done_status") });
      return true;
    },
    restore: async (rows: readonly SecretRow[]) => {
      if (!(await succeeds(restore.mutateAsync(idsOf(rows))))) return false;
      notify({ tone: "success", text: t("trash.restored_status") });
      return true;
    },
    purge: async (rows: readonly SecretRow[]) => {
      if (!(await succeeds(purge.mutateAsync(idsOf(rows))))) return false;
      notify({ tone: "success", text: t("purge.done_status", { count: rows.length }) });
      return true;
    },
  };
  const current = { ...actions, onSelect, requestPurge };
  const latest = useRef(current);
  // Handlers read the ref, so `forRow` keeps its identity and memoised rows are not re-rendered.
  useLayoutEffect(() => {
    latest.current = current;
  });
  const canPurge = requestPurge !== null;
  const forRow = useMemo<RowActions>(
    () => ({
      favorite: (row, starred) => {
        latest.current.favorite([row], starred);
      },
      trash: (row) => void latest.current.trash([row]),
      restore: (row) => void latest.current.restore([row]),
      purge: canPurge ? (row) => latest.current.requestPurge?.([row]) : null,
      select: (row, selected) => {
        latest.current.onSelect(row, selected);
      },
    }),
    [canPurge],
  );
  return {
    ...actions,
    forRow,
    pending: all.some(({ isPending }) => isPending),
    error: all.find(({ error }) => error !== null)?.error ?? null,
  };
}

async function succeeds(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch {
    return false; // the mutation holds the error, and the caller shows `ListActions.error`
  }
}
