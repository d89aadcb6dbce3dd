import { usePortal, type RecoveryCode } from "@relicario/shared/contract";
import { PrintSheet } from "@relicario/shared/forms";
import { getFormats } from "@relicario/shared/i18n";
import { markVerbatim, renderVerbatim } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { QrCode } from "../qr/QrCode.tsx";

interface RecoveryCodeSheetProps {
  readonly code: RecoveryCode;
  readonly onEnd: () => void;
}

/**
 * Printed recovery code, as words and as a QR code. Together with a sign-in it opens the account's
 * secrets.
 */
export function RecoveryCodeSheet({ code, onEnd }: RecoveryCodeSheetProps) {
  const { t } = useTranslation("openers");
  const { language, user, vendor } = usePortal();
  const { dateTime } = getFormats(language);
  return (
    <PrintSheet onEnd={onEnd}>
      <Sheet>
        <h1>{t("sheet.title", { product: vendor.branding.productName })}</h1>
        <p>
          {renderVerbatim(
            t("sheet.body", { name: markVerbatim(user.userName), date: dateTime(new Date().toISOString()) }),
          )}
        </p>
        <ol>
          {code.words.map((word, index) => (
            <li key={index}>{word}</li>
          ))}
        </ol>
        <QrCode text={code.identity} label={t("sheet.qr_aria")} />
        <p>{t("sheet.use_body")}</p>
      </Sheet>
    </PrintSheet>
  );
}

/** Fits A4 and Letter. */
const Sheet = styled.article`
  max-width: 170mm;
  font-size: 12pt;
  & ol {
    columns: 3;
    padding-left: 10mm;
    font-family: monospace;
    line-height: 2;
  }
  & svg {
    width: 60mm;
    height: 60mm;
  }
  @page {
    margin: 18mm;
  }
`;
