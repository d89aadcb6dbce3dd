import { parseRecord } from "@relicario/shared/api";
import { Notice } from "@relicario/shared/ui";
import type { ShownContent } from "@relicario/vault/element";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";

import { RevealedFile } from "./RevealedFile.tsx";
import { RevealedRecord } from "./RevealedRecord.tsx";
import { RevealedText } from "./RevealedText.tsx";
import type { SaveContent } from "./useSaveFile.ts";

interface RevealedContentProps {
  /** Heading on paper. */
  readonly title: string;
  readonly content: ShownContent;
  readonly save: SaveContent;
}

/**
 * Shows an opened content. A text, seed phrase or secret field is hidden until the person reveals
 * it; a file can only be saved.
 */
export function RevealedContent({ title, content: { contentKind, name, size, content }, save }: RevealedContentProps) {
  const { t } = useTranslation("common");
  const fields = useMemo(
    () => (contentKind === "record" && content !== null ? parseRecord(new TextDecoder().decode(content)) : null),
    [contentKind, content],
  );
  if (contentKind === "file" || content === null) return <RevealedFile name={name} size={size} save={save} />;
  if (fields !== null) return <RevealedRecord title={title} name={name} content={content} fields={fields} />;
  return (
    <>
      {contentKind === "record" && (
        <Notice tone="warn" title={t("record.unreadable_title")}>
          {t("record.unreadable_body")}
        </Notice>
      )}
      <RevealedText title={title} name={name} content={content} numbered={contentKind === "seed"} />
    </>
  );
}
