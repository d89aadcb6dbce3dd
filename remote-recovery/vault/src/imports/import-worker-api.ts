import type { ReadImport } from "@relicario/shared/contract";

import { committed, privateFile, sweepPrivateFiles, type Sink } from "../transfer/sinks.ts";
import { readImport, type ReadSettings } from "./reading/read-import.ts";
import type { GivenFile } from "./reading/text-files.ts";
import { openSealedContent, type ContentOpening } from "./sealed-content.ts";

/** What the import's worker offers. */
export interface ImportWorkerApi {
  /** Answers when the worker runs. */
  readonly ping: () => void;
  readonly read: (files: readonly GivenFile[], settings: ReadSettings) => Promise<ReadImport>;
  /**
   * Opens a content of an archive of this portal into a private file. One at a time: {@link
   * putAway} it before the next.
   */
  readonly open: (sealed: Blob, opening: ContentOpening, options: { readonly signal?: AbortSignal }) => Promise<Blob>;
  /** Removes what was opened. */
  readonly putAway: () => Promise<void>;
}

export function createImportWorkerApi(): ImportWorkerApi {
  let opened: Sink<Blob> | null = null;
  return {
    ping: () => undefined,
    read: readImport,
    open: async (sealed, opening, { signal }) => {
      await sweepPrivateFiles().catch(() => undefined); // of an import that was cut off; tried again with the next page
      const sink = await privateFile();
      const content = await committed(sink, () =>
        openSealedContent(sealed, opening, (bytes) => sink.write(bytes), signal),
      );
      opened = sink;
      return content;
    },
    putAway: async () => {
      await opened?.discard();
      opened = null;
    },
  };
}
