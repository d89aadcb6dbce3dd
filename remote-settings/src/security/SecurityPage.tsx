import { Card, Muted, SectionTitle, space, Stack } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { Link } from "react-router-dom";
import { styled } from "styled-components";

import { SettingsFrame } from "../frame/SettingsFrame.tsx";
import { AutoLockField } from "./AutoLockField.tsx";
import { SessionList } from "./SessionList.tsx";

/** What belongs to other areas, and where it stands there. */
const relatedPages = [
  { place: "openers", to: "/openers" },
  { place: "people", to: "/people" },
  { place: "activity", to: "/settings/activity" },
] as const;

/**
 * Route `/settings/security`. The sign-ins are last: nobody knows how many there are until they
 * came.
 */
export default function SecurityPage() {
  const { t } = useTranslation("settings-security");
  return (
    <SettingsFrame page="security">
      <Stack $gap={6}>
        <Card aria-labelledby="auto-lock">
          <Stack $gap={3}>
            <SectionTitle id="auto-lock">{t("lock.title")}</SectionTitle>
            <Muted>{t("lock.body")}</Muted>
            <AutoLockField />
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
