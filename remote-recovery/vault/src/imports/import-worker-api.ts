import type { ReadImport } from "@relicario/shared/contract";

import { readImport, type ReadSettings } from "./reading/read-import.ts";
import type { GivenFile } from "./reading/text-files.ts";

/** What the import's worker offers. */
export interface ImportWorkerApi {
  /** Answers when the worker runs. */
  readonly ping: () => void;
  readonly read: (files: readonly GivenFile[], settings: ReadSettings) => Promise<ReadImport>;
}

export const importWorkerApi: ImportWorkerApi = { ping: () => undefined, read: readImport };
