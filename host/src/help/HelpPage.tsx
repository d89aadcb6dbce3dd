import { Card, Page, SectionTitle, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

import { ReplayTours } from "./ReplayTours.tsx";

/** Frequently asked questions. */
export function HelpPage() {
  const { t } = useTranslation("help");
  return (
    <Page title={t("title")} lead={t("lead")}>
      <Card>
        <Stack $gap={3}>
          <SectionTitle>{t("opens.title")}</SectionTitle>
          <p>{t("opens.body")}</p>
          <p>{t("opens.device_body")}</p>
        </Stack>
      </Card>
      <Card>
        <Stack $gap={3}>
          <SectionTitle>{t("lost.title")}</SectionTitle>
          <p>{t("lost.body")}</p>
        </Stack>
      </Card>
      <Card>
        <Stack $gap={3}>
          <SectionTitle>{t("without.title")}</SectionTitle>
          <p>{t("without.body")}</p>
        </Stack>
      </Card>
      <ReplayTours />
    </Page>
  );
}
