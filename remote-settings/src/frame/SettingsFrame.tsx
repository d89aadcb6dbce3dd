import { usePortal } from "@relicario/shared/contract";
import { media, Page, s, space } from "@relicario/shared/ui";
import { ChevronDown } from "lucide-react";
import { useId, useRef, useState, type ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Navigate, NavLink } from "react-router-dom";
import { css, styled } from "styled-components";

import { AppearanceToggles } from "./AppearanceToggles.tsx";
import { settingsPages, getVisiblePages, type SettingsPageName } from "./menu.ts";

interface SettingsFrameProps {
  readonly page: SettingsPageName;
  readonly children: ReactNode;
}

/**
 * Frame of every route below `/settings`: a side menu, and the current page with its name as the
 * heading. A hidden page redirects to the profile. On phones the menu is collapsed, so that the
 * page starts on the first screen.
 */
export function SettingsFrame({ page, children }: SettingsFrameProps) {
  const { t } = useTranslation("settings");
  const { features } = usePortal();
  const visiblePages = getVisiblePages(features);
  const [open, setOpen] = useState(false);
  const menuId = useId();
  const toggleRef = useRef<HTMLButtonElement>(null);
  const closeMenu = () => {
    setOpen(false);
    // On phones the focused entry is hidden together with the menu. A new page takes the focus
    // itself.
    toggleRef.current?.focus();
  };

  if (!visiblePages.includes(page)) return <Navigate to="/settings/profile" replace />;
  return (
    <Page width="wide" title={t(`${settingsPages[page].textKey}.title`)}>
      <Columns>
        <nav aria-label={t("menu.list_aria")}>
          <MenuToggle
            ref={toggleRef}
            type="button"
            aria-expanded={open}
            aria-controls={menuId}
            onClick={() => {
              setOpen(!open);
            }}
          >
            {t("menu.open_action")}
            <ChevronDown aria-hidden />
          </MenuToggle>
          <Menu id={menuId} data-open={open}>
            {visiblePages
              .filter((name) => name !== "delete-account")
              .map((name) => (
                <li key={name}>
                  <MenuLink to={`/settings/${name}`} onClick={closeMenu}>
                    {t(`${settingsPages[name].textKey}.menu_action`)}
                  </MenuLink>
                </li>
              ))}
            <li>
              <MenuLink to="/another-device">{t("menu.device_action")}</MenuLink>
            </li>
            <AppearanceToggles
              renderEntry={({ icon, label, onPress }) => (
                <li>
                  <MenuButton type="button" onClick={onPress}>
                    {icon}
                    {label}
                  </MenuButton>
                </li>
              )}
            />
            <li>
              <MenuLink to="/settings/delete-account" onClick={closeMenu} data-tone="danger">
                {t("delete.menu_action")}
              </MenuLink>
            </li>
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
  ${media.wide} {
    grid-template-columns: 200px minmax(0, 1fr);
    gap: ${space(8)};
  }
`;

const Menu = styled.ul`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(1)};
  ${media.wide} {
    flex-direction: column;
  }
  ${media.mobile} {
    flex-direction: column;
    margin-top: ${space(1)};
    &[data-open="false"] {
      display: none;
    }
  }
`;

const entryStyle = css`
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
  &:hover {
    background: ${s("surfaceSunken")};
  }
  & > svg {
    flex: none;
    width: 18px;
    height: 18px;
  }
`;

const MenuButton = styled.button`
  ${entryStyle}
`;

const MenuToggle = styled.button`
  ${entryStyle}
  justify-content: space-between;
  border: 1px solid ${s("border")};
  &[aria-expanded="true"] > svg {
    transform: rotate(180deg);
  }
  ${media.desktop} {
    display: none;
  }
`;

const MenuLink = styled(NavLink)`
  ${entryStyle}
  &[aria-current="page"] {
    background: ${s("accentSoft")};
    font-weight: 600;
  }
  &[data-tone="danger"] {
    color: ${s("dangerText")};
  }
`;

const Content = styled.div`
  min-width: 0;
  max-width: 640px;
`;
