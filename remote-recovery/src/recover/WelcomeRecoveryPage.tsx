import { ButtonLink, Card, Muted, Page, s, SectionTitle, space, SpacedRow, Stack } from "@relicario/shared/ui";
import { ChevronRight } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Link, useSearchParams } from "react-router-dom";
import { styled } from "styled-components";

import { FlowSteps } from "../flow/FlowSteps.tsx";

/**
 * What a person may still have, likeliest first, each with advice. Those in `situationsWithPicture`
 * lead to presenting a picture.
 */
const situations = ["copy", "changed", "inside", "several", "phrase", "kit", "device", "none"] as const;
const situationsWithPicture: readonly Situation[] = ["copy", "changed", "inside", "several"];
type Situation = (typeof situations)[number];

/**
 * Route `/welcome-recovery`: asks what the person still has. `?have=` is the answer, so that back
 * and forward work; `?secret=` is the secret to recover.
 */
export default function WelcomeRecoveryPage() {
  const { t } = useTranslation("image-recovery");
  const [query] = useSearchParams();
  const situation = situations.find((candidate) => candidate === query.get("have"));
  const secretId = query.get("secret");
  const secretParams = secretId === null ? {} : { secret: secretId };
  const buildPath = (chosen: Situation) =>
    `/welcome-recovery?${new URLSearchParams({ ...secretParams, have: chosen }).toString()}`;
  const nextPath =
    secretId === null ? "/secrets" : `/provide-image-recovery?${new URLSearchParams(secretParams).toString()}`;

  if (situation === undefined) {
    return (
      <Page title={t("welcome.title")} lead={t("welcome.lead_body")}>
        <FlowSteps flow="recovery" step="start" />
        <Choices aria-label={t("welcome.title")}>
          {situations.map((item) => (
            <li key={item}>
              <Link to={buildPath(item)}>
                {t(`welcome.${item}_title`)}
                <ChevronRight aria-hidden />
              </Link>
            </li>
          ))}
        </Choices>
      </Page>
    );
  }
  return (
    <Page title={t(`welcome.${situation}_title`)}>
      <FlowSteps flow="recovery" step="start" />
      <Card aria-labelledby="what-to-do">
        <Stack $gap={3}>
          <SectionTitle id="what-to-do">{t("welcome.advice_title")}</SectionTitle>
          <Muted>{t(`welcome.${situation}_body`)}</Muted>
          <SpacedRow>
            {situationsWithPicture.includes(situation) && (
              <ButtonLink to={nextPath}>
                {t(secretId === null ? "welcome.choose_action" : "welcome.show_action")}
              </ButtonLink>
            )}
            {situation === "device" && <ButtonLink to="/new-device">{t("provide.device_action")}</ButtonLink>}
            {situation === "none" && (
              <ButtonLink to="/start-anew" tone="quiet">
                {t("welcome.anew_action")}
              </ButtonLink>
            )}
            <ButtonLink
              tone="quiet"
              to={`/welcome-recovery${secretId === null ? "" : `?${new URLSearchParams(secretParams).toString()}`}`}
            >
              {t("welcome.back_action")}
            </ButtonLink>
          </SpacedRow>
        </Stack>
      </Card>
    </Page>
  );
}

const Choices = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(2)};
  & a {
    display: flex;
    align-items: center;
    justify-content: space-between;
    gap: ${space(3)};
    min-height: 52px;
    padding: ${space(3)} ${space(4)};
    border: 1px solid ${s("border")};
    border-radius: ${s("radius")};
    background: ${s("surface")};
    color: ${s("text")};
    font-weight: 600;
    text-decoration: none;
  }
  & a:hover {
    border-color: ${s("accent")};
  }
  & svg {
    flex: none;
    color: ${s("textMuted")};
  }
`;
