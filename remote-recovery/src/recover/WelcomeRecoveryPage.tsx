import { ButtonLink, Card, Muted, Page, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";

const cases = ["copy", "changed", "none"] as const;

/** What do you still have? A short decision page. */
export default function WelcomeRecoveryPage() {
  const { t } = useTranslation("image-recovery");
  return (
    <Page title={t("welcome.title")} lead={t("welcome.lead_body")}>
      {cases.map((each) => (
        <Card key={each} aria-labelledby={`case-${each}`}>
          <Stack $gap={3}>
            <SectionTitle id={`case-${each}`}>{t(`welcome.${each}_title`)}</SectionTitle>
            <Muted>{t(`welcome.${each}_body`)}</Muted>
            {each !== "none" && (
              <SpacedRow>
                <ButtonLink tone={each === "copy" ? "primary" : "quiet"} to="/secrets">
                  {t(`welcome.${each}_action`)}
                </ButtonLink>
              </SpacedRow>
            )}
          </Stack>
        </Card>
      ))}
    </Page>
  );
}
