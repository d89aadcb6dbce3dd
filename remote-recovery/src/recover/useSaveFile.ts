import type { RecoveredSecret, VaultProgress } from "@relicario/shared/contract";
import { toPortalError, type PortalError } from "@relicario/shared/errors";
import { saveFile } from "@relicario/shared/forms";
import { useEffect, useRef, useState } from "react";


export type FileSaving =
  | { readonly status: "idle" | "saved" }
  | { readonly status: "running"; readonly progress: VaultProgress | null }
  | { readonly status: "failed"; readonly error: PortalError };

type SavePicker = (options: { readonly suggestedName: string }) => Promise<FileSystemFileHandle>;

/**
 * Saves the content as a file. Where the browser can write to a chosen place, a large one goes there as a stream; elsewhere
 * it is put together in a private file and handed to the downloads. Either way nothing is under its name before the last byte
 * is verified. Leaving the screen cancels.
 */
export function useSaveFile(secret: RecoveredSecret) {
  const [saving, setSaving] = useState<FileSaving>({ status: "idle" });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const save = async (): Promise<void> => {
    const own = new AbortController();
    running.current = own;
    setSaving({ status: "running", progress: null });
    try {
      const target = secret.content === null ? await chooseTarget(secret.name) : null;
      const blob = await secret.save(target, {
        signal: own.signal,
        onProgress: (progress) => {
          if (!own.signal.aborted) setSaving({ status: "running", progress });
        },
      });
      if (own.signal.aborted) return;
      if (blob !== null) saveFile(secret.name, blob);
      setSaving({ status: "saved" });
    } catch (error) {
      const quiet = own.signal.aborted || (error instanceof DOMException && error.name === "AbortError"); // no place was chosen
      setSaving(quiet ? { status: "idle" } : { status: "failed", error: toPortalError(error) });
    }
  };
  const cancel = () => {
    running.current?.abort();
    setSaving({ status: "idle" });
  };
  return { saving, save, cancel };
}

/** Asks where to save; null where the browser cannot write to a chosen place. */
async function chooseTarget(name: string): Promise<FileSystemFileHandle | null> {
  const picker: unknown = Reflect.get(window, "showSaveFilePicker");
  return isPicker(picker) ? picker.call(window, { suggestedName: name }) : null;
}

function isPicker(value: unknown): value is SavePicker {
  return typeof value === "function";
}
