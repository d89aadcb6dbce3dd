import { ButtonLink, Card, Muted, Page, PictureFacts, s, SectionTitle, space, SpacedRow } from "@relicario/shared/ui";
import { Image, LifeBuoy, LockKeyhole } from "lucide-react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { FlowSteps } from "../flow/FlowSteps.tsx";

const steps = [
  { name: "picture", Icon: Image },
  { name: "secret", Icon: LockKeyhole },
  { name: "keep", Icon: LifeBuoy },
] as const;

/** Route `/welcome-backup`: introduces the flow in three steps. */
export function WelcomeStep() {
  const { t } = useTranslation("welcome");
  return (
    <Page title={t("page.title")} lead={t("page.lead_body")}>
      <FlowSteps flow="backup" step="start" />
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
      <PictureFacts />
      <SpacedRow>
        <ButtonLink size="large" to="/provide-image">
          {t("page.start_action")}
        </ButtonLink>
        <ButtonLink size="large" tone="quiet" to="/welcome-recovery">
          {t("page.recover_action")}
        </ButtonLink>
      </SpacedRow>
    </Page>
  );
}

const Steps = styled.ol`
  display: flex;
  flex-direction: column;
  gap: ${space(3)};
  & > li {
    display: flex;
    gap: ${space(4)};
    align-items: flex-start;
  }
  & > li > svg {
    flex: none;
    margin-top: 2px;
    color: ${s("accentText")};
  }
`;
