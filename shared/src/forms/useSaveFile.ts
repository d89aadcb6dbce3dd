import { useEffect, useRef, useState } from "react";

import type { OpenedContent, VaultProgress } from "../contract/index.ts";
import { toPortalError, type PortalError } from "../errors/index.ts";
import { saveFile } from "./save-file.ts";

export type SaveState =
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
export function useSaveFile(openedContent: Pick<OpenedContent, "name" | "content" | "save">) {
  const [saveState, setSaveState] = useState<SaveState>({ status: "idle" });
  const activeController = useRef<AbortController | null>(null);
  useEffect(() => () => activeController.current?.abort(), []);

  const save = async (): Promise<void> => {
    const controller = new AbortController();
    activeController.current = controller;
    setSaveState({ status: "running", progress: null });
    try {
      const target = openedContent.content === null ? await chooseTarget(openedContent.name) : null;
      const blob = await openedContent.save(target, {
        signal: controller.signal,
        onProgress: (progress) => {
          if (!controller.signal.aborted) setSaveState({ status: "running", progress });
        },
      });
      if (controller.signal.aborted) return;
      if (blob !== null) saveFile(openedContent.name, blob);
      setSaveState({ status: "saved" });
    } catch (error) {
      // no place was chosen
      const isCancelled = controller.signal.aborted || (error instanceof DOMException && error.name === "AbortError");
      setSaveState(isCancelled ? { status: "idle" } : { status: "failed", error: toPortalError(error) });
    }
  };
  const cancel = () => {
    activeController.current?.abort();
    setSaveState({ status: "idle" });
  };
  return { saving: saveState, save, cancel };
}

/** Asks where to save; null where the browser cannot write to a chosen place. */
async function chooseTarget(name: string): Promise<FileSystemFileHandle | null> {
  const picker: unknown = Reflect.get(window, "showSaveFilePicker");
  return isPicker(picker) ? picker.call(window, { suggestedName: name }) : null;
}

function isPicker(value: unknown): value is SavePicker {
  return typeof value === "function";
}
