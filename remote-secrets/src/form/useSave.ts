import { maxSmallContentBytes } from "@relicario/shared/api";
import { usePortal, type CallOptions, type VaultProgress } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { secretKeys } from "../data/keys.ts";

export type SaveState =
  | { readonly status: "idle" }
  | { readonly status: "running"; readonly progress: VaultProgress | null; readonly large: boolean }
  | { readonly status: "failed"; readonly error: PortalError };

export interface SaveOptions<Result> {
  /** Content to upload; null when only title and tags change. */
  readonly content: Blob | null;
  readonly run: (options: CallOptions) => Promise<Result>;
  readonly onSaved: (result: Result) => void;
  /** Called instead of `onSaved` when the form has been unmounted meanwhile. */
  readonly onSavedAfterUnmount: () => void;
  /** True when it handled the error; otherwise `saveState` shows it. */
  readonly onFailed?: (error: PortalError) => boolean;
}

/**
 * Runs one save at a time, with progress and cancelling. Unmounting the form cancels a save that
 * goes in one request; a larger file goes in parts, keeps running, and is listed among the uploads
 * until it is published.
 */
export function useSave() {
  const { user } = usePortal();
  const client = useQueryClient();
  const [saveState, setSaveState] = useState<SaveState>({ status: "idle" });
  const activeSave = useRef<{ readonly abortController: AbortController; readonly large: boolean } | null>(null);
  const isMounted = useRef(true);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
      if (activeSave.current?.large !== true) activeSave.current?.abortController.abort();
    };
  }, []);

  const save = async <Result>({
    content,
    run,
    onSaved,
    onSavedAfterUnmount,
    onFailed,
  }: SaveOptions<Result>): Promise<void> => {
    const controller = new AbortController();
    const large = content !== null && content.size > maxSmallContentBytes;
    activeSave.current = { abortController: controller, large };
    const updateState = (next: SaveState) => {
      if (isMounted.current && activeSave.current?.abortController === controller) setSaveState(next);
    };
    updateState({ status: "running", progress: null, large });
    try {
      const result = await run({
        signal: controller.signal,
        onProgress: (progress) => {
          if (!controller.signal.aborted) updateState({ status: "running", progress, large });
        },
      });
      updateState({ status: "idle" });
      if (isMounted.current) onSaved(result);
      else onSavedAfterUnmount();
    } catch (thrown) {
      const error = toPortalError(thrown);
      const handled = controller.signal.aborted || onFailed?.(error) === true;
      updateState(handled ? { status: "idle" } : { status: "failed", error });
    } finally {
      void client.invalidateQueries({ queryKey: secretKeys.all(user.userId) });
    }
  };
  const cancel = () => {
    activeSave.current?.abortController.abort();
  };
  /** What failed is mended, or no longer of interest. */
  const clearFailure = () => {
    setSaveState((current) => (current.status === "failed" ? { status: "idle" } : current));
  };
  return { saveState, save, cancel, clearFailure };
}
