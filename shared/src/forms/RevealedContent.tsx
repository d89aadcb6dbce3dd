import { useMemo } from "react";
import { useTranslation } from "react-i18next";

import { parseRecord } from "../api/index.ts";
import type { OpenedContent } from "../contract/index.ts";
import { Notice } from "../ui/notices.tsx";
import { RevealedRecord } from "./record/RevealedRecord.tsx";
import { RevealedFile } from "./RevealedFile.tsx";
import { RevealedText } from "./RevealedText.tsx";

export interface RevealedContentProps {
  /** Heading on paper. */
  readonly title: string;
  readonly openedContent: Pick<OpenedContent, "contentKind" | "name" | "size" | "content" | "save">;
}

/**
 * Shows an opened content. A text, seed phrase or secret field is hidden until the person reveals
 * it; a file can only be saved. Every screen shows contents by this component only.
 */
export function RevealedContent({ title, openedContent }: RevealedContentProps) {
  const { t } = useTranslation("common");
  const { content, contentKind, name } = openedContent;
  const fields = useMemo(
    () => (contentKind === "record" && content !== null ? parseRecord(new TextDecoder().decode(content)) : null),
    [contentKind, content],
  );
  if (contentKind === "file" || content === null) return <RevealedFile openedContent={openedContent} />;
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
