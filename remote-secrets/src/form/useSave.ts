import { maxSmallContentBytes } from "@relicario/shared/api";
import { usePortal, type CallOptions, type Vault } from "@relicario/shared/contract";
import type { PortalError } from "@relicario/shared/errors";
import { runUnlocked, useVaultOperation } from "@relicario/shared/forms";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { secretKeys } from "../data/keys.ts";

export interface SaveOptions<Result> {
  /** Null if only title and tags change. */
  readonly content: Blob | null;
  readonly run: (options: CallOptions) => Promise<Result>;
  /** Called after the save, even if the form was left. */
  readonly onSaved: (result: Result) => void;
  readonly onFailed?: (error: PortalError) => void;
}

/**
 * Runs one save at a time. Leaving the form cancels a save that is a single request. A larger file
 * is sent in parts: its save continues, and is listed among the uploads until it is published.
 *
 * A new content requires an opener in use. On a device that was unlocked without one, the operation
 * asks for an opener and unlocks with it first.
 */
export function useSave(vault: Vault) {
  const { user } = usePortal();
  const client = useQueryClient();
  const operation = useVaultOperation({ vault });
  const [savesInBackground, setSavesInBackground] = useState(false);
  const save = <Result>({ content, run, onSaved, onFailed = () => undefined }: SaveOptions<Result>): void => {
    const inBackground = content !== null && content.size > maxSmallContentBytes;
    setSavesInBackground(inBackground);
    operation.start({
      run: runUnlocked(vault, run),
      continues: inBackground,
      onDone: onSaved,
      onLateResult: onSaved,
      onFailed,
      onSettled: () => void client.invalidateQueries({ queryKey: secretKeys.all(user.userId) }),
    });
  };
  return { operation, savesInBackground, save };
}
