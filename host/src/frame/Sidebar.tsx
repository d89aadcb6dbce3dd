import { layoutMotion, s, space } from "@relicario/shared/ui";
import { m } from "framer-motion";
import { CircleHelp, PanelLeftClose, PanelLeftOpen } from "lucide-react";
import { useTranslation } from "react-i18next";
import { NavLink } from "react-router-dom";
import { styled } from "styled-components";

import {
  DestinationEntry,
  FeedbackEntry,
  LanguageEntry,
  LoginEntry,
  LogoutEntry,
  ThemeEntry,
  WithTooltip,
} from "./Entries.tsx";
import { frameSizes } from "../popups/frame-sizes.ts";
import { EntryButton, entryStyles, EntryText } from "./styles.ts";
import { Logo } from "./Logo.tsx";
import { NavigationColumn, NavigationList, RemoteEntries } from "./RemoteEntries.tsx";
import { destinations } from "../routes/navigation.ts";

export interface SidebarProps {
  readonly product: string;
  readonly narrow: boolean;
  readonly onToggle: () => void;
  readonly userName: string;
  /** Null for a visitor of a shared link, who gets no navigation. */
  readonly onLogout: (() => void) | null;
  readonly onLogin: () => void;
}

/** Sidebar of wide screens: 208 px, or 64 px with icons only. */
export function Sidebar({ product, narrow, onToggle, userName, onLogout, onLogin }: SidebarProps) {
  const { t } = useTranslation("beta-sidebar");
  const toggleLabel = t(narrow ? "expand_action" : "collapse_action");
  const ToggleIcon = narrow ? PanelLeftOpen : PanelLeftClose;
  return (
    <Bar
      data-state={narrow ? "narrow" : "wide"}
      initial={false}
      animate={{ width: narrow ? frameSizes.narrowSidebar : frameSizes.sidebar }}
      transition={layoutMotion}
    >
      <Header>
        <Logo product={product} compact={narrow} />
      </Header>
      {onLogout !== null && (
        <NavigationColumn aria-label={t("navigation_aria")}>
          <NavigationList>
            {destinations.map((destination) => (
              <li key={destination.name}>
                <DestinationEntry destination={destination} compact={narrow} />
              </li>
            ))}
          </NavigationList>
          <RemoteEntries compact={narrow} />
        </NavigationColumn>
      )}
      <Footer>
        {onLogout !== null && (
          <WithTooltip compact={narrow} label={t("help_action")}>
            <HelpLink to="/help" aria-label={narrow ? t("help_action") : undefined} data-tour="layout-help">
              <CircleHelp aria-hidden />
              {!narrow && <EntryText>{t("help_action")}</EntryText>}
            </HelpLink>
          </WithTooltip>
        )}
        {onLogout !== null && <FeedbackEntry compact={narrow} />}
        <LanguageEntry compact={narrow} />
        <ThemeEntry compact={narrow} />
        <WithTooltip compact={narrow} label={toggleLabel}>
          <EntryButton
            type="button"
            aria-label={narrow ? toggleLabel : undefined}
            aria-expanded={!narrow}
            onClick={onToggle}
          >
            <ToggleIcon aria-hidden />
            {!narrow && <EntryText>{toggleLabel}</EntryText>}
          </EntryButton>
        </WithTooltip>
        {onLogout === null ? (
          <LoginEntry compact={narrow} onLogin={onLogin} />
        ) : (
          <LogoutEntry compact={narrow} userName={userName} onLogout={onLogout} />
        )}
      </Footer>
    </Bar>
  );
}

const { narrowSidebar, sidebar } = frameSizes;
/** Width inside the border and padding. */
const getInnerWidth = (width: number) => width - 1 - 2 * 8;
/**
 * Padding before an icon. It centres the icon in the narrow sidebar, and keeps the icon in place
 * when the sidebar widens.
 */
const iconInset = (getInnerWidth(narrowSidebar) - 20) / 2;
/**
 * Labels always have the width of the wide sidebar, so that the animation does not lay them out
 * again in each frame.
 */
const labelWidth = getInnerWidth(sidebar) - iconInset - 20 - 12 - 10;
const logoWidth = getInnerWidth(sidebar) - 2 * 8;

const Bar = styled(m.header)`
  position: sticky;
  top: 0;
  display: flex;
  flex: none;
  flex-direction: column;
  gap: ${space(4)};
  height: 100dvh;
  padding: ${space(4)} ${space(2)};
  border-right: 1px solid ${s("border")};
  background: ${s("surface")};
  overflow: hidden auto;
  & a,
  & button {
    padding-inline: ${iconInset}px 0;
    overflow: hidden;
  }
  & a > span,
  & button > span {
    flex: none;
    width: ${labelWidth}px;
  }
  & [data-tour="layout-logout"] {
    min-height: 52px;
  } /* as high without its two lines, so that entries above stay in place */
`;

const Header = styled.div`
  display: flex;
  align-items: center;
  min-height: 44px;
  padding: 0 ${space(2)};
  & > span {
    flex: none;
    width: ${logoWidth}px;
  }
`;

const Footer = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(1)};
  margin-top: auto;
`;

const HelpLink = styled(NavLink)`
  ${entryStyles}
`;
