import { usePortal } from "@relicario/shared/contract";
import { EmptyState, media, Page, s, space } from "@relicario/shared/ui";
import { Hourglass } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Navigate, NavLink, useLocation } from "react-router-dom";
import { styled } from "styled-components";

import { ProfileForm } from "./profile/ProfileForm.tsx";

const pages = ["profile", "notifications", "billing", "payments", "delete-account"] as const;
type SettingsName = (typeof pages)[number];

/** i18n keys have no dash. */
const textKeys = { profile: "profile", notifications: "notifications", billing: "billing", payments: "payments", "delete-account": "delete" } as const satisfies Record<SettingsName, string>;

/** Routes `/settings/*`: a side menu and the current sub-page, whose name is the heading. Any other path redirects to the profile. */
export default function SettingsPage() {
  const { t } = useTranslation("settings");
  const { features } = usePortal();
  const here = useLocation().pathname.split("/")[2];
  const current = pages.find((name) => name === here);
  const shown: readonly SettingsName[] = pages.filter((name) => name === "profile" || name === "delete-account" || (name === "billing" && features["billing"] === true));

  if (current === undefined) return <Navigate to="/settings/profile" replace />;
  return (
    <Page width="wide" title={t(`${textKeys[current]}.title`)}>
      <Columns>
        <nav aria-label={t("menu.list_aria")}>
          <Menu>
            {shown.map((name) => (
              <li key={name}>
                <MenuLink to={`/settings/${name}`} data-tone={name === "delete-account" ? "danger" : undefined}>
                  {t(`${textKeys[name]}.menu_action`)}
                </MenuLink>
              </li>
            ))}
          </Menu>
        </nav>
        <Content>
          {current === "profile" ? <ProfileForm /> : <NotYet text={textKeys[current]} />}
        </Content>
      </Columns>
    </Page>
  );
}

interface NotYetProps {
  readonly text: Exclude<(typeof textKeys)[SettingsName], "profile">;
}

/** A sub-page that this release does not implement. */
function NotYet({ text }: NotYetProps) {
  const { t } = useTranslation("settings");
  return (
    <EmptyState icon={<Hourglass />} title={t(`${text}.not_yet_title`)}>
      <p>{t(`${text}.not_yet_body`)}</p>
    </EmptyState>
  );
}

const Columns = styled.div`
  display: grid;
  grid-template-columns: 200px minmax(0, 1fr);
  gap: ${space(8)};
  ${media.mobile} { grid-template-columns: minmax(0, 1fr); gap: ${space(5)}; }
`;

const Menu = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(1)};
  ${media.mobile} { flex-direction: row; flex-wrap: wrap; }
`;

const MenuLink = styled(NavLink)`
  display: flex;
  align-items: center;
  min-height: 44px;
  padding: ${space(2)} ${space(3)};
  border-radius: ${s("radius")};
  color: ${s("text")};
  text-decoration: none;
  &:hover { background: ${s("surfaceSunken")}; }
  &[aria-current="page"] { background: ${s("accentSoft")}; font-weight: 600; }
  &[data-tone="danger"] { color: ${s("dangerText")}; }
`;

const Content = styled.div`
  min-width: 0;
  max-width: 640px;
`;
