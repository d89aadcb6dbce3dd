import type { SecretRow } from "@relicario/shared/contract";
import { useMemo, useState } from "react";

/** Which rows are selected. What is no longer shown is no longer selected: nothing is done to what cannot be seen. */
export function useSelection(shown: readonly SecretRow[]) {
  const [ids, setIds] = useState<ReadonlySet<string> | null>(null);
  const chosen = useMemo(() => (ids === null ? [] : shown.filter(({ secretId }) => ids.has(secretId))), [ids, shown]);
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
    all: (all: boolean) => {
      setIds(new Set(all ? shown.map(({ secretId }) => secretId) : []));
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
