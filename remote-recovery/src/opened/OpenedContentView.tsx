import { ErrorNotice, Stack } from "@relicario/shared/ui";
import type { ElementVault, ShownContent } from "@relicario/vault/element";
import { useEffect, useState } from "react";

import { AgeFileExport } from "./AgeFileExport.tsx";
import { ClearClipboardContext } from "./CopySecretButton.tsx";
import { RevealedContent } from "./RevealedContent.tsx";

export interface OpenedContentViewProps {
  readonly openedId: string;
  /** Heading on paper of a content that was sealed without a title. */
  readonly title: string;
  readonly vault: Pick<ElementVault, "readOpened" | "saveOpened" | "exportAgeFile">;
  /** Clears the clipboard later, as {@link ClearClipboardContext} says. */
  readonly clearClipboard: () => Promise<void>;
}

/** Shows an opened content in the vault's origin. Wipes its copy of the bytes when it is left. */
export function OpenedContentView({ openedId, title, vault, clearClipboard }: OpenedContentViewProps) {
  const [shown, setShown] = useState<ShownContent | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    let isCurrent = true;
    let content: ShownContent["content"] = null;
    vault.readOpened(openedId).then(
      (read) => {
        ({ content } = read);
        if (isCurrent) setShown(read);
        else content?.fill(0);
      },
      (thrown: unknown) => {
        if (isCurrent) setError(thrown);
      },
    );
    return () => {
      isCurrent = false;
      content?.fill(0);
    };
  }, [vault, openedId]);
  if (error !== null) return <ErrorNotice error={error} />;
  if (shown === null) return null; // so that the element has its whole height at once
  return (
    <ClearClipboardContext value={clearClipboard}>
      <Stack $gap={5}>
        <RevealedContent
          title={shown.title ?? title}
          content={shown}
          save={(options) => vault.saveOpened(openedId, options)}
        />
        {shown.hasAgeFile && shown.content !== null && (
          <AgeFileExport content={shown} exportAgeFile={() => vault.exportAgeFile(openedId)} />
        )}
      </Stack>
    </ClearClipboardContext>
  );
}
