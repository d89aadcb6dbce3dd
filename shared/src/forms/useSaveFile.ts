import { useEffect, useRef, useState } from "react";

import type { OpenedContent, VaultProgress } from "../contract/index.ts";
import { toPortalError, type PortalError } from "../errors/index.ts";
import { saveFile } from "./save-file.ts";

export type FileSaving =
  | { readonly status: "idle" | "saved" }
  | { readonly status: "running"; readonly progress: VaultProgress | null }
  | { readonly status: "failed"; readonly error: PortalError };

type SavePicker = (options: { readonly suggestedName: string }) => Promise<FileSystemFileHandle>;

/**
 * Saves the content as a file. Where the browser can write to a chosen place, a large one goes
 * there as a stream; elsewhere it is put together in a private file and handed to the downloads.
 * Either way nothing is under its name before the last byte is verified. Leaving the screen
 * cancels.
 */
export function useSaveFile(opened: Pick<OpenedContent, "name" | "content" | "save">) {
  const [saving, setSaving] = useState<FileSaving>({ status: "idle" });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const save = async (): Promise<void> => {
    const own = new AbortController();
    running.current = own;
    setSaving({ status: "running", progress: null });
    try {
      const target = opened.content === null ? await chooseTarget(opened.name) : null;
      const blob = await opened.save(target, {
        signal: own.signal,
        onProgress: (progress) => {
          if (!own.signal.aborted) setSaving({ status: "running", progress });
        },
      });
      if (own.signal.aborted) return;
      if (blob !== null) saveFile(opened.name, blob);
      setSaving({ status: "saved" });
    } catch (error) {
      // no place was chosen
      const quiet = own.signal.aborted || (error instanceof DOMException && error.name === "AbortError");
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
