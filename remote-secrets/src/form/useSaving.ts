import { maxSmallContentBytes } from "@relicario/shared/api";
import { usePortal, type CallOptions, type VaultProgress } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { secretKeys } from "../data/keys.ts";

export type Saving =
  | { readonly status: "idle" }
  | { readonly status: "running"; readonly progress: VaultProgress | null; readonly large: boolean }
  | { readonly status: "failed"; readonly error: PortalError };

export interface SaveOptions<Result> {
  /** Content to upload; null when only title and tags change. */
  readonly content: Blob | null;
  readonly run: (options: CallOptions) => Promise<Result>;
  readonly onSaved: (result: Result) => void;
  /** Called instead of `onSaved` when the form has been unmounted meanwhile. */
  readonly onSavedElsewhere: () => void;
  /** True when it handled the error; otherwise `saving` shows it. */
  readonly onFailed?: (error: PortalError) => boolean;
}

/**
 * Runs one save at a time, with progress and cancelling. Unmounting the form cancels a save that
 * goes in one request; a larger file goes in parts, keeps running, and is listed among the uploads
 * until it is published.
 */
export function useSaving() {
  const { user } = usePortal();
  const client = useQueryClient();
  const [saving, setSaving] = useState<Saving>({ status: "idle" });
  const running = useRef<{ readonly abort: AbortController; readonly large: boolean } | null>(null);
  const mounted = useRef(true);
  useEffect(() => {
    mounted.current = true;
    return () => {
      mounted.current = false;
      if (running.current?.large !== true) running.current?.abort.abort();
    };
  }, []);

  const save = async <Result>({
    content,
    run,
    onSaved,
    onSavedElsewhere,
    onFailed,
  }: SaveOptions<Result>): Promise<void> => {
    const controller = new AbortController();
    const large = content !== null && content.size > maxSmallContentBytes;
    running.current = { abort: controller, large };
    const show = (next: Saving) => {
      if (mounted.current && running.current?.abort === controller) setSaving(next);
    };
    show({ status: "running", progress: null, large });
    try {
      const result = await run({
        signal: controller.signal,
        onProgress: (progress) => {
          if (!controller.signal.aborted) show({ status: "running", progress, large });
        },
      });
      show({ status: "idle" });
      if (mounted.current) onSaved(result);
      else onSavedElsewhere();
    } catch (thrown) {
      const error = toPortalError(thrown);
      const handled = controller.signal.aborted || onFailed?.(error) === true;
      show(handled ? { status: "idle" } : { status: "failed", error });
    } finally {
      void client.invalidateQueries({ queryKey: secretKeys.all(user.userId) });
    }
  };
  const cancel = () => {
    running.current?.abort.abort();
  };
  /** What failed is mended, or no longer of interest. */
  const forgetFailure = () => {
    setSaving((now) => (now.status === "failed" ? { status: "idle" } : now));
  };
  return { saving, save, cancel, forgetFailure };
}
