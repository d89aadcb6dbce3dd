import type { ImportReadResult } from "@relicario/shared/contract";

import { commitOnSuccess, createPrivateSink, sweepPrivateFiles, type Sink } from "../transfer/sinks.ts";
import { readImport, type ReadImportOptions } from "./reading/read-import.ts";
import type { ChosenFile } from "./reading/text-files.ts";
import { openSealedContent, type SealedContentInfo } from "./reading/sealed-content.ts";

/** What the import's worker offers. */
export interface ImportWorkerApi {
  /** Answers when the worker runs. */
  readonly ping: () => void;
  readonly read: (files: readonly ChosenFile[], settings: ReadImportOptions) => Promise<ImportReadResult>;
  /**
   * Opens a content of an archive of this portal into a private file. One at a time: {@link
   * dispose} it before the next.
   */
  readonly openContent: (
    sealed: Blob,
    info: SealedContentInfo,
    options: { readonly signal?: AbortSignal },
  ) => Promise<Blob>;
  /** Removes what was opened. */
  readonly dispose: () => Promise<void>;
}

export function createImportWorkerApi(): ImportWorkerApi {
  let openedSink: Sink<Blob> | null = null;
  return {
    ping: () => undefined,
    read: readImport,
    openContent: async (sealed, info, { signal }) => {
      await sweepPrivateFiles().catch(() => undefined); // of an import that was cut off; tried again with the next page
      const sink = await createPrivateSink();
      const content = await commitOnSuccess(sink, () =>
        openSealedContent(sealed, info, (bytes) => sink.write(bytes), signal),
      );
      openedSink = sink;
      return content;
    },
    dispose: async () => {
      await openedSink?.discard();
      openedSink = null;
    },
  };
}
