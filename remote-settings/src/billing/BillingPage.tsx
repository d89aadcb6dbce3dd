import type { Billing } from "@relicario/shared/api";
import { usePortal } from "@relicario/shared/contract";
import { getFormats } from "@relicario/shared/i18n";
import { Card, EmptyState, ErrorNotice, Loading, SectionTitle, Skeleton, Stack } from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { ReceiptText } from "lucide-react";
import { useTranslation } from "react-i18next";

import { billingQuery } from "../data/billing.ts";
import { FactList } from "../frame/FactList.tsx";
import { SettingsFrame } from "../frame/SettingsFrame.tsx";
import { UsageBar } from "../frame/UsageBar.tsx";
import { InvoiceList } from "./InvoiceList.tsx";

/** Route `/settings/billing`. */
export default function BillingPage() {
  return (
    <SettingsFrame page="billing">
      <PlanAndInvoices />
    </SettingsFrame>
  );
}

function PlanAndInvoices() {
  const { t } = useTranslation("settings");
  const portal = usePortal();
  const billing = useQuery(billingQuery(portal));
  if (billing.isError) return <ErrorNotice error={billing.error} onRetry={() => void billing.refetch()} />;
  if (billing.data === undefined) {
    return (
      <Loading label={t("billing.loading_status")}>
        <Skeleton height="420px" />
      </Loading>
    );
  }
  return <BillingDetails billing={billing.data} />;
}

function BillingDetails({ billing: { plan, use, invoices } }: { readonly billing: Billing }) {
  const { t } = useTranslation("settings");
  const { language } = usePortal();
  const { number, size } = getFormats(language);
  return (
    <Stack $gap={5}>
      <Card>
        <Stack $gap={5}>
          <SectionTitle>{t("billing.plan_title")}</SectionTitle>
          <UsageBar label={t("licence.storage_label")} used={use.storage_used} quota={use.storage_quota}>
            {t("licence.storage_body", { used: size(use.storage_used), quota: size(use.storage_quota) })}
          </UsageBar>
          <FactList
            facts={[
              { label: t("licence.plan_label"), value: plan === "free" ? t("licence.plan_free") : plan },
              { label: t("licence.secrets_label"), value: number(use.secrets) },
              { label: t("licence.shares_label"), value: number(use.shares) },
            ]}
          />
        </Stack>
      </Card>
      {invoices.length === 0 ? (
        <EmptyState icon={<ReceiptText />} title={t("billing.none_title")}>
          <p>{t("billing.none_body")}</p>
        </EmptyState>
      ) : (
        <InvoiceList invoices={invoices} />
      )}
    </Stack>
  );
}
