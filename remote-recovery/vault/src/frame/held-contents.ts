import type { AgeFile, CallOptions, OpenedContent, OpenedSecret } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { TransferredFields } from "../page/opened-content.ts";

type HeldContent = OpenedContent & Partial<Pick<OpenedSecret, "exportAgeFile">>;

/** Opened contents that the frame holds for the page, by an id. */
export interface HeldContents {
  /** Returns the result as it crosses: an opened content becomes its plain members and an id. */
  readonly toTransferable: (result: unknown) => unknown;
  /** Served to the page. Reject with `vault_locked` for an unknown id. */
  readonly members: {
    readonly saveContent: (openedId: string, options?: CallOptions) => Promise<Blob | null>;
    readonly exportAgeFile: (openedId: string) => Promise<AgeFile>;
    readonly disposeContent: (openedId: string) => void;
  };
  readonly disposeAll: () => void;
}

export function createHeldContents(): HeldContents {
  const contents = new Map<string, HeldContent>();

  function requireContent(openedId: string): HeldContent {
    const content = contents.get(openedId);
    if (content === undefined) throw new PortalError("vault_locked");
    return content;
  }

  return {
    toTransferable: (result) => {
      if (!isOpenedContent(result)) return result;
      const openedId = crypto.randomUUID();
      contents.set(openedId, result);
      const { save: _save, dispose: _dispose, exportAgeFile, ...plainMembers } = result;
      return { ...plainMembers, openedId, hasAgeFile: exportAgeFile !== undefined } satisfies TransferredFields;
    },
    members: {
      saveContent: (openedId, options) => requireContent(openedId).save(null, options),
      exportAgeFile: (openedId) => {
        const { exportAgeFile } = requireContent(openedId);
        if (exportAgeFile === undefined) throw new PortalError("forbidden");
        return exportAgeFile();
      },
      disposeContent: (openedId) => {
        contents.get(openedId)?.dispose();
        contents.delete(openedId);
      },
    },
    disposeAll: () => {
      for (const content of contents.values()) content.dispose();
      contents.clear();
    },
  };
}

function isOpenedContent(result: unknown): result is HeldContent {
  return typeof result === "object" && result !== null && "dispose" in result && "save" in result;
}
