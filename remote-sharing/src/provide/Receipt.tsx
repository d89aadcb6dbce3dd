import { Card, Notice, SectionTitle, SmallText, Stack } from "@relicario/shared/ui";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

import { WordList } from "../link/WordList.tsx";

interface ReceiptProps {
  readonly words: readonly string[];
  /** Of an answer that had left before, and not of what was given last. */
  readonly earlier?: boolean;
}

/** It was sent and taken: eight words that whoever asked sees, too. */
export function Receipt({ words, earlier = false }: ReceiptProps) {
  const { t } = useTranslation("beta-recover-share");
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    title.current?.focus(); // it took the place of the form
  }, []);
  return (
    <Card aria-labelledby="receipt">
      <Stack $gap={4}>
        <SectionTitle id="receipt" ref={title} tabIndex={-1}>
          {t(earlier ? "receipt.earlier_title" : "receipt.title")}
        </SectionTitle>
        {earlier && <Notice tone="warn">{t("receipt.earlier_body")}</Notice>}
        <Notice tone="success">{t("receipt.body")}</Notice>
        <WordList words={words} label={t("receipt.words_label")} />
        <SmallText>{t("receipt.words_hint")}</SmallText>
        <p>{t("receipt.close_body")}</p>
      </Stack>
    </Card>
  );
}
