import { usePortal, type CallOptions, type Vault, type VaultProgress } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";

import { secretKeys } from "../data/secrets.ts";

/** An upload that was resumed in this tab. */
export type ResumeState = { readonly status: "running"; readonly progress: VaultProgress | null } | { readonly status: "failed"; readonly error: PortalError };

/** By upload id. Outside React: a resumed upload keeps running when its screen is unmounted. */
const resumed = createStore<Readonly<Partial<Record<string, ResumeState>>>>()(() => ({}));

function setResumeState(uploadId: string, state: ResumeState | undefined): void {
  resumed.setState({ [uploadId]: state });
}

/** Undefined for an upload that was not resumed in this tab. */
export function useResumeState(uploadId: string): ResumeState | undefined {
  return useStore(resumed, (states) => states[uploadId]);
}

export function useUploadActions(vault: Vault, onPublished: () => void) {
  const { user } = usePortal();
  const client = useQueryClient();
  const refetch = useCallback(() => client.invalidateQueries({ queryKey: secretKeys.all(user.userId) }), [client, user.userId]);
  const run = async (uploadId: string, send: (options: CallOptions) => Promise<unknown>): Promise<void> => {
    setResumeState(uploadId, { status: "running", progress: null });
    try {
      await send({
        onProgress: (progress) => {
          setResumeState(uploadId, { status: "running", progress });
        },
      });
      setResumeState(uploadId, undefined);
      onPublished();
    } catch (error) {
      setResumeState(uploadId, { status: "failed", error: toPortalError(error) });
    }
    await refetch();
  };
  const resume = (uploadId: string, file: Blob | null): Promise<void> => run(uploadId, (options) => vault.resumeUpload(uploadId, file, options));
  const restart = (uploadId: string, file: Blob): Promise<void> => run(uploadId, (options) => vault.restartUpload(uploadId, file, options));
  const discard = async (uploadId: string): Promise<void> => {
    try {
      await vault.discardUpload(uploadId);
      setResumeState(uploadId, undefined);
    } catch (error) {
      setResumeState(uploadId, { status: "failed", error: toPortalError(error) });
    }
    await refetch();
  };
  return { resume, restart, discard };
}
