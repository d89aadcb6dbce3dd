import type { SecretRow } from "@relicario/shared/contract";
import { useMemo, useState } from "react";

/**
 * Selected rows. Only visible rows are included, so that no action applies to a row that a filter
 * or search hides.
 */
export function useSelection(visibleRows: readonly SecretRow[]) {
  const [selectedIds, setSelectedIds] = useState<ReadonlySet<string> | null>(null);
  const selectedRows = useMemo(
    () => (selectedIds === null ? [] : visibleRows.filter(({ secretId }) => selectedIds.has(secretId))),
    [selectedIds, visibleRows],
  );
  return {
    active: selectedIds !== null,
    selectedRows,
    has: ({ secretId }: SecretRow) => selectedIds?.has(secretId) === true,
    start: () => {
      setSelectedIds(new Set());
    },
    stop: () => {
      setSelectedIds(null);
    },
    setAll: (selectAll: boolean) => {
      setSelectedIds(new Set(selectAll ? visibleRows.map(({ secretId }) => secretId) : []));
    },
    set: ({ secretId }: SecretRow, selected: boolean) => {
      setSelectedIds((previous) => {
        const next = new Set(previous);
        if (selected) next.add(secretId);
        else next.delete(secretId);
        return next;
      });
    },
  };
}
