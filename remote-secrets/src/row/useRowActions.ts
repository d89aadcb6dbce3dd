import { trashDays } from "@relicario/shared/api";
import { usePortal, type SecretRow, type Vault } from "@relicario/shared/contract";
import { useLayoutEffect, useMemo, useRef } from "react";
import { useTranslation } from "react-i18next";

import { usePurge, useRestore, useSetFavorite, useTrash } from "../data/row-mutations.ts";
import type { RowActions } from "./SecretRowCard.tsx";

export interface ListActions {
  readonly forRow: RowActions;
  readonly favorite: (rows: readonly SecretRow[], favorite: boolean) => void;
  /** Each asks first where something goes away; true when it was done. */
  readonly trash: (rows: readonly SecretRow[]) => Promise<boolean>;
  readonly restore: (rows: readonly SecretRow[]) => Promise<boolean>;
  readonly purge: (rows: readonly SecretRow[]) => Promise<boolean>;
  readonly pending: boolean;
  /** What went wrong last; null when nothing did. */
  readonly error: unknown;
}

const idsOf = (rows: readonly SecretRow[]) => rows.map(({ secretId }) => secretId);

/** What can be done with one row or several. What fails is shown by the list, and the rows stay where they were. */
export function useRowActions(vault: Vault, onSelect: RowActions["select"], askPurge: ((rows: readonly SecretRow[]) => void) | null): ListActions {
  const { t } = useTranslation("beta-home");
  const { confirm, notify } = usePortal();
  const favorite = useSetFavorite(vault);
  const trash = useTrash(vault);
  const restore = useRestore(vault);
  const purge = usePurge(vault);
  const all = [favorite, trash, restore, purge];

  const actions = {
    favorite: (rows: readonly SecretRow[], wanted: boolean) => {
      favorite.mutate({ secretIds: idsOf(rows), favorite: wanted });
    },
    trash: async (rows: readonly SecretRow[]) => {
      const sure = await confirm({
        title: t("trash.confirm_title", { count: rows.length }),
        description: t("trash.confirm_body", { days: trashDays }),
        confirmLabel: t("trash.confirm_action"),
        alert: true,
      });
      if (!sure || !(await done(trash.mutateAsync(idsOf(rows))))) return false;
      notify({ tone: "success", text: t("trash.done_status") });
      return true;
    },
    restore: async (rows: readonly SecretRow[]) => {
      if (!(await done(restore.mutateAsync(idsOf(rows))))) return false;
      notify({ tone: "success", text: t("trash.restored_status") });
      return true;
    },
    purge: async (rows: readonly SecretRow[]) => {
      if (!(await done(purge.mutateAsync(idsOf(rows))))) return false;
      notify({ tone: "success", text: t("purge.done_status", { count: rows.length }) });
      return true;
    },
  };
  const now = { ...actions, onSelect, askPurge };
  const latest = useRef(now);
  // Read by handlers only: rows keep their props, and are not drawn again.
  useLayoutEffect(() => {
    latest.current = now;
  });
  const canPurge = askPurge !== null;
  const forRow = useMemo<RowActions>(
    () => ({
      favorite: (row, wanted) => {
        latest.current.favorite([row], wanted);
      },
      trash: (row) => void latest.current.trash([row]),
      restore: (row) => void latest.current.restore([row]),
      purge: canPurge ? (row) => latest.current.askPurge?.([row]) : null,
      select: (row, selected) => {
        latest.current.onSelect(row, selected);
      },
    }),
    [canPurge],
  );
  return { ...actions, forRow, pending: all.some(({ isPending }) => isPending), error: all.find(({ error }) => error !== null)?.error ?? null };
}

async function done(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch {
    return false; // the mutation keeps the error, and the list shows it in words
  }
}
