import { usePortal } from "@relicario/shared/contract";
import { media, Page, s, space } from "@relicario/shared/ui";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Navigate, NavLink } from "react-router-dom";
import { css, styled } from "styled-components";

import { LookToggles } from "./LookToggles.tsx";
import { menu, shownIn, type SettingsName } from "./menu.ts";

interface SettingsFrameProps {
  readonly page: SettingsName;
  readonly children: ReactNode;
}

/** The frame of every route below `/settings`: a side menu, and the current page, whose name is the heading. A hidden page leads to the profile. */
export function SettingsFrame({ page, children }: SettingsFrameProps) {
  const { t } = useTranslation("settings");
  const { features } = usePortal();
  const shown = shownIn(features);

  if (!shown.includes(page)) return <Navigate to="/settings/profile" replace />;
  return (
    <Page width="wide" title={t(`${menu[page].text}.title`)}>
      <Columns>
        <nav aria-label={t("menu.list_aria")}>
          <Menu>
            {shown.map((name) => (
              <li key={name}>
                <MenuLink to={`/settings/${name}`} data-tone={name === "delete-account" ? "danger" : undefined}>
                  {t(`${menu[name].text}.menu_action`)}
                </MenuLink>
              </li>
            ))}
            <li>
              <MenuLink to="/another-device">{t("menu.device_action")}</MenuLink>
            </li>
            <LookToggles
              entry={({ icon, label, onPress }) => (
                <li>
                  <MenuButton type="button" onClick={onPress}>
                    {icon}
                    {label}
                  </MenuButton>
                </li>
              )}
            />
          </Menu>
        </nav>
        <Content>{children}</Content>
      </Columns>
    </Page>
  );
}

const Columns = styled.div`
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: ${space(5)};
  ${media.wide} { grid-template-columns: 200px minmax(0, 1fr); gap: ${space(8)}; }
`;

const Menu = styled.ul`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(1)};
  ${media.wide} { flex-direction: column; }
`;

const entryLook = css`
  display: flex;
  align-items: center;
  gap: ${space(2)};
  width: 100%;
  min-height: 44px;
  padding: ${space(2)} ${space(3)};
  border: 0;
  border-radius: ${s("radius")};
  background: none;
  color: ${s("text")};
  text-align: left;
  text-decoration: none;
  cursor: pointer;
  &:hover { background: ${s("surfaceSunken")}; }
  & > svg { flex: none; width: 18px; height: 18px; }
`;

const MenuButton = styled.button`
  ${entryLook}
`;

const MenuLink = styled(NavLink)`
  ${entryLook}
  &[aria-current="page"] { background: ${s("accentSoft")}; font-weight: 600; }
  &[data-tone="danger"] { color: ${s("dangerText")}; }
`;

const Content = styled.div`
  min-width: 0;
  max-width: 640px;
`;
