import type { ImportReadResult } from "@relicario/shared/contract";

import { commitOnSuccess, createPrivateSink, sweepPrivateFiles, type Sink } from "../transfer/sinks.ts";
import { readImport, type ReadImportOptions } from "./reading/read-import.ts";
import type { ChosenFile } from "./reading/text-files.ts";
import { openSealedContent, type SealedContentInfo } from "./reading/sealed-content.ts";

/** API of the import worker. */
export interface ImportWorkerApi {
  /** Resolves when the worker runs. */
  readonly ping: () => void;
  readonly read: (files: readonly ChosenFile[], settings: ReadImportOptions) => Promise<ImportReadResult>;
  /**
   * Opens a content of this portal's own archive into a private file. Call {@link dispose} before
   * opening the next.
   */
  readonly openContent: (
    sealed: Blob,
    info: SealedContentInfo,
    options: { readonly signal?: AbortSignal },
  ) => Promise<Blob>;
  /** Deletes the file with the opened content. */
  readonly dispose: () => Promise<void>;
}

export function createImportWorkerApi(): ImportWorkerApi {
  let openedSink: Sink | null = null;
  return {
    ping: () => undefined,
    read: readImport,
    openContent: async (sealed, info, { signal }) => {
      await sweepPrivateFiles().catch(() => undefined); // of an interrupted import; the next page retries
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
