import { usePortal } from "@relicario/shared/contract";
import { media, Page, s, space } from "@relicario/shared/ui";
import { useTranslation } from "react-i18next";
import { NavLink, useLocation } from "react-router-dom";
import { styled } from "styled-components";

import { ProfileForm } from "../profile/ProfileForm.tsx";
import { NotYet } from "./NotYet.tsx";

const pages = ["profile", "notifications", "billing", "payments", "delete-account"] as const;
type SettingsName = (typeof pages)[number];

/** Names as keys of texts have no dash. */
const textOf = { profile: "profile", notifications: "notifications", billing: "billing", payments: "payments", "delete-account": "delete" } as const satisfies Record<SettingsName, string>;

/** Settings: a menu beside the page that is open, whose name is the heading. Language and theme are in the frame of the portal. */
export default function SettingsPage() {
  const { t } = useTranslation("settings");
  const { features } = usePortal();
  const here = useLocation().pathname.split("/")[2];
  const current = pages.find((name) => name === here) ?? "profile";
  const shown: readonly SettingsName[] = pages.filter((name) => name === "profile" || name === "delete-account" || (name === "billing" && features["billing"] === true));

  return (
    <Page width="wide" title={t(`${textOf[current]}.title`)}>
      <Columns>
        <nav aria-label={t("menu.list_aria")}>
          <Menu>
            {shown.map((name) => (
              <li key={name}>
                <MenuLink to={`/settings/${name}`} data-tone={name === "delete-account" ? "danger" : undefined}>
                  {t(`${textOf[name]}.menu_action`)}
                </MenuLink>
              </li>
            ))}
          </Menu>
        </nav>
        <Content>
          {current === "profile" ? <ProfileForm /> : <NotYet text={textOf[current]} />}
        </Content>
      </Columns>
    </Page>
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
