import { ButtonLink, Card, Muted, Notice, Page, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

const things = ["picture", "passphrase", "account", "exit"] as const;

/** What to keep, and how, in words. */
export default function SafeguardPage() {
  const { t } = useTranslation("safeguard");
  return (
    <Page title={t("page.title")} lead={t("page.lead_body")}>
      {things.map((thing) => (
        <Card key={thing} aria-labelledby={`keep-${thing}`}>
          <Stack $gap={2}>
            <SectionTitle id={`keep-${thing}`}>{t(`${thing}.title`)}</SectionTitle>
            <Muted>{t(`${thing}.body`)}</Muted>
          </Stack>
        </Card>
      ))}
      <Notice tone="warn">{t("page.lost_body")}</Notice>
      <SpacedRow>
        <ButtonLink to="/secrets">{t("page.list_action")}</ButtonLink>
      </SpacedRow>
    </Page>
  );
}
