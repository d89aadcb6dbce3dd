import { Card, Notice, SectionTitle, SmallText, Stack } from "@relicario/shared/ui";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

import { WordList } from "../link/WordList.tsx";

interface ReceiptProps {
  readonly receiptWords: readonly string[];
  /** Of an answer that had left before, and not of what was given last. */
  readonly fromEarlierAnswer?: boolean;
}

/** It was sent and taken: eight words that whoever asked sees, too. */
export function Receipt({ receiptWords, fromEarlierAnswer = false }: ReceiptProps) {
  const { t } = useTranslation("beta-recover-share");
  const titleRef = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    titleRef.current?.focus(); // it took the place of the form
  }, []);
  return (
    <Card aria-labelledby="receipt">
      <Stack $gap={4}>
        <SectionTitle id="receipt" ref={titleRef} tabIndex={-1}>
          {t(fromEarlierAnswer ? "receipt.earlier_title" : "receipt.title")}
        </SectionTitle>
        {fromEarlierAnswer && <Notice tone="warn">{t("receipt.earlier_body")}</Notice>}
        <Notice tone="success">{t("receipt.body")}</Notice>
        <WordList words={receiptWords} label={t("receipt.words_label")} />
        <SmallText>{t("receipt.words_hint")}</SmallText>
        <p>{t("receipt.close_body")}</p>
      </Stack>
    </Card>
  );
}
