import { Card, Muted, SectionTitle, space, Stack, useVault } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { Link } from "react-router-dom";
import { styled } from "styled-components";

import { SettingsFrame } from "../frame/SettingsFrame.tsx";
import { AutoLockField } from "./AutoLockField.tsx";
import { HistoryCard } from "./HistoryCard.tsx";
import { KeepOpenField } from "./KeepOpenField.tsx";
import { SessionList } from "./SessionList.tsx";

const relatedPages = [
  { place: "openers", to: "/openers" },
  { place: "people", to: "/people" },
  { place: "activity", to: "/settings/activity" },
] as const;

/**
 * Route `/settings/security`. The sessions are last on the page, because their number is unknown
 * until they are loaded.
 */
export default function SecurityPage() {
  const { t } = useTranslation("settings-security");
  const access = useVault();
  return (
    <SettingsFrame page="security">
      <Stack $gap={6}>
        <Card aria-labelledby="auto-lock">
          <Stack $gap={3}>
            <SectionTitle id="auto-lock">{t("lock.title")}</SectionTitle>
            <Muted>{t("lock.body")}</Muted>
            <AutoLockField access={access} />
          </Stack>
        </Card>
        <Card aria-labelledby="keep-open">
          <Stack $gap={3}>
            <SectionTitle id="keep-open">{t("keep_open.title")}</SectionTitle>
            <Muted>{t("keep_open.body")}</Muted>
            <KeepOpenField access={access} />
          </Stack>
        </Card>
        <Card aria-labelledby="more-places">
          <Stack $gap={3}>
            <SectionTitle id="more-places">{t("places.title")}</SectionTitle>
            <RelatedPages>
              {relatedPages.map(({ place, to }) => (
                <li key={place}>
                  <RelatedPageLink to={to}>{t(`places.${place}_action`)}</RelatedPageLink>
                  <Muted>{t(`places.${place}_body`)}</Muted>
                </li>
              ))}
            </RelatedPages>
          </Stack>
        </Card>
        <HistoryCard />
        <SessionList />
      </Stack>
    </SettingsFrame>
  );
}

const RelatedPages = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(3)};
`;

const RelatedPageLink = styled(Link)`
  display: inline-flex;
  align-items: center;
  min-height: 44px;
  font-weight: 550;
`;
