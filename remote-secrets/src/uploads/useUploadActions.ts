import {
  usePortal,
  type CallOptions,
  type NewSecretInput,
  type Vault,
  type VaultProgress,
} from "@relicario/shared/contract";
import { isPortalError, toPortalError, type PortalError } from "@relicario/shared/errors";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";

import { secretKeys } from "../data/keys.ts";

/** Why an upload takes a picture before it can be published. */
export type OpenerReason = "opener_needed" | "show_opener_first";

/**
 * An upload that was resumed in this tab. `openerReason` stays, whatever fails next, until
 * it is published: a picture is tried more than once.
 */
export type ResumeState = { readonly openerReason: OpenerReason | null } & (
  | { readonly status: "running"; readonly progress: VaultProgress | null }
  | { readonly status: "failed"; readonly error: PortalError }
);

/** By upload id. Outside React: a resumed upload keeps running when its screen is unmounted. */
const resumeStates = createStore<Readonly<Partial<Record<string, ResumeState>>>>()(() => ({}));

function getOpenerReason(uploadId: string): OpenerReason | null {
  return resumeStates.getState()[uploadId]?.openerReason ?? null;
}

function setResumeFailed(uploadId: string, thrown: unknown): void {
  const error = toPortalError(thrown);
  const openerReason = isPortalError(error, "opener_needed")
    ? "opener_needed"
    : isPortalError(error, "show_opener_first")
      ? "show_opener_first"
      : getOpenerReason(uploadId);
  setResumeState(uploadId, { status: "failed", error, openerReason });
}

function setResumeState(uploadId: string, state: ResumeState | undefined): void {
  resumeStates.setState({ [uploadId]: state });
}

/** Undefined for an upload that was not resumed in this tab. */
export function useResumeState(uploadId: string): ResumeState | undefined {
  return useStore(resumeStates, (states) => states[uploadId]);
}

export function useUploadActions(vault: Vault, onPublished: () => void) {
  const { user } = usePortal();
  const client = useQueryClient();
  const refetch = useCallback(
    () => client.invalidateQueries({ queryKey: secretKeys.all(user.userId) }),
    [client, user.userId],
  );
  const run = async (uploadId: string, send: (options: CallOptions) => Promise<unknown>): Promise<void> => {
    const openerReason = getOpenerReason(uploadId);
    setResumeState(uploadId, { status: "running", progress: null, openerReason });
    try {
      await send({
        onProgress: (progress) => {
          setResumeState(uploadId, { status: "running", progress, openerReason });
        },
      });
      setResumeState(uploadId, undefined);
      onPublished();
    } catch (error) {
      setResumeFailed(uploadId, error);
    }
    await refetch();
  };
  const resume = (
    uploadId: string,
    file: Blob | null,
    protection: NewSecretInput["protection"] | null,
  ): Promise<void> =>
    run(uploadId, (options) =>
      vault.resumeUpload(uploadId, file, protection === null ? options : { ...options, protection }),
    );
  const restart = (uploadId: string, file: Blob): Promise<void> =>
    run(uploadId, (options) => vault.restartUpload(uploadId, file, options));
  const discard = async (uploadId: string): Promise<void> => {
    try {
      await vault.discardUpload(uploadId);
      setResumeState(uploadId, undefined);
    } catch (error) {
      setResumeFailed(uploadId, error);
    }
    await refetch();
  };
  return { resume, restart, discard };
}
