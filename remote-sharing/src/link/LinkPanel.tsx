import { CopyButton } from "@relicario/shared/forms";
import { Button, s, SmallText, space, SpacedRow, Stack } from "@relicario/shared/ui";
import { QrCode as QrIcon, Share2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { QrCode } from "./QrCode.tsx";

interface LinkPanelProps {
  readonly link: string;
}

/**
 * A link that people can copy, pass to the system's share sheet, or show as a QR code. Unlike a
 * secret, a copied link stays in the clipboard, because people may paste it later.
 */
export function LinkPanel({ link }: LinkPanelProps) {
  const { t } = useTranslation("beta-share");
  const [qrOpen, setQrOpen] = useState(false);
  return (
    <Stack $gap={3}>
      <Address tabIndex={0} aria-label={t("link.address_aria")} translate="no">
        {link}
      </Address>
      <SpacedRow $align="start">
        <CopyButton tone="primary" label={t("link.copy_action")} getText={() => link} />
        {"share" in navigator && (
          <Button
            tone="quiet"
            icon={<Share2 aria-hidden />}
            onClick={() => {
              // dismissed or refused: the link stays on the screen
              navigator.share({ url: link }).catch(() => undefined);
            }}
          >
            {t("link.send_action")}
          </Button>
        )}
        <Button
          tone="quiet"
          icon={<QrIcon aria-hidden />}
          aria-expanded={qrOpen}
          onClick={() => {
            setQrOpen(!qrOpen);
          }}
        >
          {t(qrOpen ? "link.qr_hide_action" : "link.qr_show_action")}
        </Button>
      </SpacedRow>
      <SmallText>{t("link.clipboard_hint")}</SmallText>
      <SmallText>{t("link.history_hint")}</SmallText>
      {qrOpen && <QrCode text={link} label={t("link.qr_aria")} />}
    </Stack>
  );
}

const Address = styled.code`
  display: block;
  max-height: 8em;
  overflow: auto;
  padding: ${space(3)} ${space(4)};
  border-radius: ${s("radiusSmall")};
  background: ${s("surfaceSunken")};
  font-family: ${s("fontMono")};
  font-size: ${s("textSmall")};
  overflow-wrap: anywhere;
  user-select: all;
`;
