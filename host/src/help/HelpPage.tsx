import { ButtonLink, Card, Page, PictureFacts, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

import { ReplayTours } from "./ReplayTours.tsx";

export function HelpPage() {
  const { t } = useTranslation("help");
  return (
    <Page title={t("title")} lead={t("lead")}>
      <Card>
        <Stack $gap={3}>
          <SectionTitle>{t("opens.title")}</SectionTitle>
          <p>{t("opens.body")}</p>
          <p>{t("opens.device_body")}</p>
          <PictureFacts />
          <SpacedRow>
            <ButtonLink tone="quiet" to="/openers">
              {t("opens.page_action")}
            </ButtonLink>
          </SpacedRow>
        </Stack>
      </Card>
      <Card>
        <Stack $gap={3}>
          <SectionTitle>{t("lost.title")}</SectionTitle>
          <p>{t("lost.body")}</p>
          <SpacedRow>
            <ButtonLink tone="quiet" to="/welcome-recovery">
              {t("lost.page_action")}
            </ButtonLink>
          </SpacedRow>
        </Stack>
      </Card>
      <Card>
        <Stack $gap={3}>
          <SectionTitle>{t("without.title")}</SectionTitle>
          <p>{t("without.kit_body")}</p>
          <p>{t("without.body")}</p>
          <p>{t("without.archive_body")}</p>
          <SpacedRow>
            <ButtonLink tone="quiet" to="/safeguard">
              {t("without.page_action")}
            </ButtonLink>
            <ButtonLink tone="quiet" to="/settings/data">
              {t("without.archive_action")}
            </ButtonLink>
          </SpacedRow>
        </Stack>
      </Card>
      <ReplayTours />
      <Card>
        <Stack $gap={3}>
          <SectionTitle>{t("feedback.title")}</SectionTitle>
          <p>{t("feedback.body")}</p>
          <SpacedRow>
            <ButtonLink tone="quiet" to="/settings/feedback" state={{ screen: "/help" }}>
              {t("feedback.page_action")}
            </ButtonLink>
          </SpacedRow>
        </Stack>
      </Card>
    </Page>
  );
}
