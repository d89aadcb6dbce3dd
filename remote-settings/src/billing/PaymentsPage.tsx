import { usePortal } from "@relicario/shared/contract";
import { Card, EmptyState, s, space, Stack } from "@relicario/shared/ui";
import { CreditCard, ExternalLink } from "lucide-react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { SettingsFrame } from "../frame/SettingsFrame.tsx";

/**
 * Route `/settings/payments`: links to the vendor's payment provider, whose address is in the
 * signed deployment document.
 */
export default function PaymentsPage() {
  return (
    <SettingsFrame page="payments">
      <PaymentProviderCard />
    </SettingsFrame>
  );
}

function PaymentProviderCard() {
  const { t } = useTranslation("settings");
  const { paymentsUrl } = usePortal().vendor;
  if (paymentsUrl === undefined) {
    return (
      <EmptyState icon={<CreditCard />} title={t("payments.none_title")}>
        <p>{t("payments.none_body")}</p>
      </EmptyState>
    );
  }
  return (
    <Card>
      <Stack>
        <p>{t("payments.elsewhere_body", { host: new URL(paymentsUrl).host })}</p>
        <p>{t("payments.no_card_body")}</p>
        <div>
          <ProviderLink href={paymentsUrl} target="_blank" rel="noreferrer">
            {t("payments.open_action")}
            <ExternalLink aria-hidden size={18} />
          </ProviderLink>
        </div>
      </Stack>
    </Card>
  );
}

const ProviderLink = styled.a`
  display: inline-flex;
  align-items: center;
  gap: ${space(2)};
  min-height: 44px;
  padding: ${space(2)} ${space(4)};
  border-radius: ${s("radius")};
  background: ${s("accent")};
  color: ${s("onAccent")};
  font-weight: 600;
  text-decoration: none;
  &:hover {
    background: ${s("accentHover")};
  }
`;
