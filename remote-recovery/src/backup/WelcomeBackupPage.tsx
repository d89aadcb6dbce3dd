import { ButtonLink, Card, Muted, Page, s, SectionTitle, space, SpacedRow } from "@relicario/shared/ui";
import { Image, LifeBuoy, LockKeyhole } from "lucide-react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

const steps = [
  { name: "picture", Icon: Image },
  { name: "secret", Icon: LockKeyhole },
  { name: "keep", Icon: LifeBuoy },
] as const;

/** Before the first secret: what is going to happen, in three steps. */
export default function WelcomeBackupPage() {
  const { t } = useTranslation("welcome");
  return (
    <Page title={t("page.title")} lead={t("page.lead_body")}>
      <Steps>
        {steps.map(({ name, Icon }) => (
          <Card as="li" key={name}>
            <Icon aria-hidden />
            <div>
              <SectionTitle>{t(`step.${name}_title`)}</SectionTitle>
              <Muted>{t(`step.${name}_body`)}</Muted>
            </div>
          </Card>
        ))}
      </Steps>
      <SpacedRow>
        <ButtonLink size="large" to="/add-secret">
          {t("page.start_action")}
        </ButtonLink>
        <ButtonLink size="large" tone="quiet" to="/provide-image">
          {t("page.try_action")}
        </ButtonLink>
      </SpacedRow>
    </Page>
  );
}

const Steps = styled.ol`
  display: flex;
  flex-direction: column;
  gap: ${space(3)};
  & > li { display: flex; gap: ${space(4)}; align-items: flex-start; }
  & > li > svg { flex: none; margin-top: 2px; color: ${s("accentText")}; }
`;
