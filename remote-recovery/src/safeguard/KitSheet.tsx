import { usePortal, type CreatedKit } from "@relicario/shared/contract";
import { PrintSheet } from "@relicario/shared/forms";
import { getFormats } from "@relicario/shared/i18n";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { QrCode } from "../qr/QrCode.tsx";

interface KitSheetProps {
  readonly kit: CreatedKit;
  readonly onEnd: () => void;
}

/**
 * Printed sheet about a kit, with lines to fill in by hand. It names no secret and opens nothing.
 */
export function KitSheet({ kit, onEnd }: KitSheetProps) {
  const { t } = useTranslation("safeguard");
  const { dateTime, number } = getFormats(usePortal().language);
  return (
    <PrintSheet onEnd={onEnd}>
      <Sheet>
        <h1>{t("sheet.title")}</h1>
        <p>{t("sheet.what_body")}</p>
        <Line>{t("sheet.kit_line")}</Line>
        <Line>{t("sheet.picture_line")}</Line>
        {kit.hasPassphrase ? <Line>{t("sheet.passphrase_line")}</Line> : <p>{t("sheet.open_line")}</p>}
        <h2>{t("sheet.steps_title")}</h2>
        <p>{t("sheet.steps_body")}</p>
        <Details>
          <dt>{t("sheet.name_title")}</dt>
          <dd>{kit.name}</dd>
          <dt>{t("sheet.made_title")}</dt>
          <dd>{dateTime(kit.createdAt)}</dd>
          <dt>{t("sheet.count_title")}</dt>
          <dd>{number(kit.secretIds.length)}</dd>
          {kit.attachments.length > 0 && (
            <>
              <dt>{t("sheet.beside_title")}</dt>
              <dd>{kit.attachments.map(({ name }) => name).join(", ")}</dd>
            </>
          )}
          <dt>{t("sheet.printed_title")}</dt>
          <dd>{dateTime(new Date().toISOString())}</dd>
        </Details>
        <Digest>
          <QrCode text={kit.sha256} label={kit.sha256} />
          <div>
            <h2>{t("sheet.digest_title")}</h2>
            <code>{(kit.sha256.match(/.{8}/g) ?? []).join(" ")}</code>
            <p>{t("sheet.digest_body")}</p>
          </div>
        </Digest>
      </Sheet>
    </PrintSheet>
  );
}

/** Fits A4 and Letter. */
const Sheet = styled.article`
  max-width: 170mm;
  font-size: 11pt;
  line-height: 1.45;
  & h1 {
    font-size: 18pt;
    margin: 0 0 6mm;
  }
  & h2 {
    font-size: 12pt;
    margin: 6mm 0 1mm;
  }
  & p {
    margin: 0 0 3mm;
  }
  @page {
    margin: 18mm;
  }
`;

const Line = styled.p`
  padding-bottom: 9mm;
  border-bottom: 0.3mm solid #000;
  break-inside: avoid;
`;

const Details = styled.dl`
  display: grid;
  grid-template-columns: max-content 1fr;
  gap: 1mm 6mm;
  margin: 6mm 0 0;
  & > dd {
    margin: 0;
    overflow-wrap: anywhere;
  }
`;

const Digest = styled.div`
  display: flex;
  gap: 6mm;
  align-items: flex-start;
  margin-top: 6mm;
  break-inside: avoid;
  & > svg {
    flex: none;
    width: 34mm;
    height: 34mm;
  }
  & h2 {
    margin-top: 0;
  }
  & code {
    font-size: 10pt;
  }
`;
