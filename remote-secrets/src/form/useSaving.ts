import { maxSmallContentBytes } from "@relicario/shared/api";
import { usePortal, type CallOptions, type VaultProgress } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { changeEditing, contentFile } from "../editing/editing-state.ts";
import { secretKeys } from "../data/secrets.ts";

export type Saving =
  | { readonly status: "idle" }
  | { readonly status: "running"; readonly progress: VaultProgress | null; readonly large: boolean }
  | { readonly status: "failed"; readonly error: PortalError };

/** One saving: what to do, with which content, and what comes after. */
export interface SavingWork<Result> {
  /** The content that goes out; null when only title and tags do. */
  readonly content: string | File | null;
  readonly work: (options: CallOptions) => Promise<Result>;
  readonly onSaved: (result: Result) => void;
  /** It was saved after the screen was left. */
  readonly onSavedElsewhere: () => void;
  /** Takes an error for itself; the others are shown. */
  readonly onFailed?: (error: PortalError) => boolean;
}

/**
 * Seals and publishes. Leaving the screen cancels what is small; a large file goes on in the background, and stands among
 * the uploads until it is published.
 */
export function useSaving() {
  const { user } = usePortal();
  const client = useQueryClient();
  const [saving, setSaving] = useState<Saving>({ status: "idle" });
  const running = useRef<{ readonly abort: AbortController; readonly large: boolean } | null>(null);
  const here = useRef(true);
  useEffect(() => {
    here.current = true;
    return () => {
      here.current = false;
      if (running.current?.large !== true) running.current?.abort.abort();
    };
  }, []);

  const save = async <Result>({ content, work, onSaved, onSavedElsewhere, onFailed }: SavingWork<Result>): Promise<void> => {
    const own = new AbortController();
    const large = noteContent(content);
    running.current = { abort: own, large };
    const show = (next: Saving) => {
      if (here.current && running.current?.abort === own) setSaving(next);
    };
    show({ status: "running", progress: null, large });
    try {
      const result = await work({
        signal: own.signal,
        onProgress: (progress) => {
          if (!own.signal.aborted) show({ status: "running", progress, large });
        },
      });
      show({ status: "idle" });
      if (here.current) onSaved(result);
      else onSavedElsewhere();
    } catch (reason) {
      const error = toPortalError(reason);
      const quiet = own.signal.aborted || onFailed?.(error) === true;
      show(quiet ? { status: "idle" } : { status: "failed", error });
    } finally {
      changeEditing({ secretFile: null, secretV2: null });
      void client.invalidateQueries({ queryKey: secretKeys.all(user.userId) });
    }
  };
  const cancel = () => {
    running.current?.abort.abort();
  };
  return { saving, save, cancel };
}

/** Notes what goes out in the editing state; true when it is too large for one call. */
function noteContent(content: string | File | null): boolean {
  if (content === null) return false;
  const { secretFile, isTextSecret } = contentFile(content);
  const large = secretFile.size > maxSmallContentBytes;
  changeEditing({ secretFile, secretV2: large ? secretFile : null, isTextSecret });
  return large;
}
