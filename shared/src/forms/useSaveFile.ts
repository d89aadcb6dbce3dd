import { useState } from "react";

import { toSafeFileName } from "../api/index.ts";
import type { OpenedContent } from "../contract/index.ts";
import { PortalError } from "../errors/index.ts";
import { useVaultOperation } from "./operation/useVaultOperation.ts";
import { saveFile } from "./save-file.ts";

type SavePicker = (options: { readonly suggestedName: string }) => Promise<FileSystemFileHandle>;

/**
 * Saves the content as a file. A large content is streamed to a file that the person chooses. A
 * browser that cannot do so streams it to a private file, which becomes a download. No file with
 * the given name appears before the last byte is verified. Leaving the screen cancels.
 */
export function useSaveFile({ name, content, save }: Pick<OpenedContent, "name" | "content" | "save">) {
  const operation = useVaultOperation();
  const [isSaved, setIsSaved] = useState(false);
  const start = () => {
    setIsSaved(false);
    operation.start({
      run: async (options) => save(content === null ? await chooseTarget(name) : null, options),
      onDone: (blob) => {
        if (blob !== null) saveFile(name, blob);
        setIsSaved(true);
      },
    });
  };
  return { operation, isSaved, start };
}

/**
 * Asks where to save. Returns null if the browser cannot write to a chosen file.
 *
 * @throws PortalError `cancelled` if the person chose no file
 */
async function chooseTarget(suggestedName: string): Promise<FileSystemFileHandle | null> {
  const picker: unknown = Reflect.get(window, "showSaveFilePicker");
  if (!isPicker(picker)) return null;
  try {
    return await picker.call(window, { suggestedName: toSafeFileName(suggestedName) });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw new PortalError("cancelled");
    throw error;
  }
}

function isPicker(value: unknown): value is SavePicker {
  return typeof value === "function";
}
