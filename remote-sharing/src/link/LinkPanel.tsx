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
 * A link to hand on: to copy, to give to the system's share sheet, as a QR code. Unlike a secret it
 * stays in the clipboard: it is copied to be pasted, perhaps later.
 */
export function LinkPanel({ link }: LinkPanelProps) {
  const { t } = useTranslation("beta-share");
  const [qrOpen, setQrOpen] = useState(false);
  return (
    <Stack $gap={3}>
      <Address tabIndex={0} aria-label={t("link.address_aria")}>
        {link}
      </Address>
      <SpacedRow $align="start">
        <CopyButton tone="primary" label={t("link.copy_action")} text={() => link} />
        {"share" in navigator && (
          <Button
            tone="quiet"
            icon={<Share2 aria-hidden />}
            onClick={() => {
              // closed without choosing, or refused: the link is still here
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
