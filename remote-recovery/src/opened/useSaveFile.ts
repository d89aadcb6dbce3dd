import type { CallOptions } from "@relicario/shared/contract";
import { saveFile, useVaultOperation } from "@relicario/shared/forms";
import { useState } from "react";

/** As {@link ElementVault.saveOpened}, for one content. */
export type SaveContent = (options: CallOptions) => Promise<Blob>;

/**
 * Saves the content as a file. A large content is first written to a private file, which becomes a
 * download: no file with the given name appears before the last byte is verified. Leaving the
 * screen cancels.
 */
export function useSaveFile(name: string, save: SaveContent) {
  const operation = useVaultOperation();
  const [isSaved, setIsSaved] = useState(false);
  const start = () => {
    setIsSaved(false);
    operation.start({
      run: save,
      onDone: (content) => {
        saveFile(name, content);
        setIsSaved(true);
      },
    });
  };
  return { operation, isSaved, start };
}
