import type { Me } from "@relicario/shared/api";
import { usePortal } from "@relicario/shared/contract";
import { getFormats } from "@relicario/shared/i18n";
import { Card, SectionTitle, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

import { FactList } from "../frame/FactList.tsx";
import { UsageBar } from "../frame/UsageBar.tsx";

export function LicenceCard({ me: { licence, username, created_at: createdAt } }: { readonly me: Me }) {
  const { t } = useTranslation("settings");
  const { language } = usePortal();
  const { date, number, size } = getFormats(language);
  return (
    <Card>
      <Stack $gap={5}>
        <SectionTitle>{t("licence.title")}</SectionTitle>
        <UsageBar label={t("licence.storage_label")} used={licence.storage_used} quota={licence.storage_quota}>
          {t("licence.storage_body", { used: size(licence.storage_used), quota: size(licence.storage_quota) })}
        </UsageBar>
        <FactList
          facts={[
            { label: t("licence.plan_label"), value: licence.plan === "free" ? t("licence.plan_free") : licence.plan },
            { label: t("licence.secrets_label"), value: number(licence.secrets) },
            { label: t("licence.shares_label"), value: number(licence.shares) },
            { label: t("profile.username_label"), value: username },
            { label: t("profile.since_label"), value: date(createdAt) },
          ]}
        />
      </Stack>
    </Card>
  );
}
