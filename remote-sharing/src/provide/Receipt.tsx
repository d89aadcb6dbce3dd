import { NumberedWords } from "@relicario/shared/forms";
import { Card, Notice, SectionTitle, SmallText, Stack } from "@relicario/shared/ui";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";

interface ReceiptProps {
  readonly receiptWords: readonly string[];
  /** Whether the receipt is of an earlier answer instead of the content that was given last. */
  readonly fromEarlierAnswer?: boolean;
}

/** Confirms that the answer was accepted. The requester sees the same eight words. */
export function Receipt({ receiptWords, fromEarlierAnswer = false }: ReceiptProps) {
  const { t } = useTranslation("beta-recover-share");
  const titleRef = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    titleRef.current?.focus(); // the receipt replaced the form
  }, []);
  return (
    <Card aria-labelledby="receipt">
      <Stack $gap={4}>
        <SectionTitle id="receipt" ref={titleRef} tabIndex={-1}>
          {t(fromEarlierAnswer ? "receipt.earlier_title" : "receipt.title")}
        </SectionTitle>
        {fromEarlierAnswer && <Notice tone="warn">{t("receipt.earlier_body")}</Notice>}
        <Notice tone="success">{t("receipt.body")}</Notice>
        <NumberedWords words={receiptWords} label={t("receipt.words_label")} />
        <SmallText>{t("receipt.words_hint")}</SmallText>
        <p>{t("receipt.close_body")}</p>
      </Stack>
    </Card>
  );
}
