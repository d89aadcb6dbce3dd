import type { SecretRow } from "@relicario/shared/contract";
import { useMemo, useState } from "react";

/**
 * Selected rows, limited to the visible ones: an action never applies to a row that a filter or
 * search hides.
 */
export function useSelection(visible: readonly SecretRow[]) {
  const [ids, setIds] = useState<ReadonlySet<string> | null>(null);
  const chosen = useMemo(
    () => (ids === null ? [] : visible.filter(({ secretId }) => ids.has(secretId))),
    [ids, visible],
  );
  return {
    active: ids !== null,
    chosen,
    has: ({ secretId }: SecretRow) => ids?.has(secretId) === true,
    begin: () => {
      setIds(new Set());
    },
    end: () => {
      setIds(null);
    },
    setAll: (all: boolean) => {
      setIds(new Set(all ? visible.map(({ secretId }) => secretId) : []));
    },
    set: ({ secretId }: SecretRow, selected: boolean) => {
      setIds((before) => {
        const next = new Set(before);
        if (selected) next.add(secretId);
        else next.delete(secretId);
        return next;
      });
    },
  };
}
