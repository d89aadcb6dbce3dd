import type { Vault } from "@relicario/shared/contract";
import { ErrorNotice, Skeleton } from "@relicario/shared/ui";
import { useEffect, useState } from "react";

/** Refreshes the vault once, so that its state leaves `unknown`. */
export function VaultRefresh({ vault }: { readonly vault: Vault }) {
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    vault.refresh().catch(setError);
  }, [vault]);
  return error === null ? <Skeleton height="160px" /> : <ErrorNotice error={error} />;
}
