import { usePortal, type Vault, type VaultProgress } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useSyncExternalStore } from "react";

import { secretKeys } from "../data/secrets.ts";

/** What this page does with an upload. */
export type Resuming = { readonly status: "running"; readonly progress: VaultProgress | null } | { readonly status: "failed"; readonly error: PortalError };

/** Resumed uploads by id: they go on when the screen that resumed them is left. */
let resuming: ReadonlyMap<string, Resuming> = new Map();
const listeners = new Set<() => void>();

function note(uploadId: string, standing: Resuming | null): void {
  const next = new Map(resuming);
  if (standing === null) next.delete(uploadId);
  else next.set(uploadId, standing);
  resuming = next;
  for (const listener of [...listeners]) listener();
}

export function useResuming(): ReadonlyMap<string, Resuming> {
  return useSyncExternalStore(subscribe, () => resuming);
}

/** Goes on with uploads, and forgets them. */
export function useUploadActions(vault: Vault, onPublished: () => void) {
  const { user } = usePortal();
  const client = useQueryClient();
  const lookAgain = useCallback(() => client.invalidateQueries({ queryKey: secretKeys.all(user.userId) }), [client, user.userId]);
  const resume = async (uploadId: string, file: Blob | null): Promise<void> => {
    note(uploadId, { status: "running", progress: null });
    try {
      await vault.resumeUpload(uploadId, file, {
        onProgress: (progress) => {
          note(uploadId, { status: "running", progress });
        },
      });
      note(uploadId, null);
      onPublished();
    } catch (error) {
      note(uploadId, { status: "failed", error: toPortalError(error) });
    }
    await lookAgain();
  };
  const discard = async (uploadId: string): Promise<void> => {
    try {
      await vault.discardUpload(uploadId);
      note(uploadId, null);
    } catch (error) {
      note(uploadId, { status: "failed", error: toPortalError(error) });
    }
    await lookAgain();
  };
  return { resume, discard };
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}
